public import Concord

/// Where the values of a row come from: a statement that stands on it, or memory. A store type subclasses it.
///
/// It is a class with overridden methods, since a value is read by position for each column of each row, and that must cost
/// next to nothing.
open class RowSource {
  public init() {}

  /// The value at a position of the row's description.
  open func value(at position: Int) -> StoredValue { .null }
  /// The rows of a collection: for each the key, if it is a dictionary, and then the element's values.
  open func collection(_ index: Int) throws -> [[StoredValue]] { [] }

  /// The stamp of the row.
  open var stamp: Stamp { -.infinity }

  /// Whether the value there is the same as another one. A store type need not copy it for that.
  open func isSame(_ value: StoredValue, at position: Int) -> Bool { value == self.value(at: position) }
  open func isNull(at position: Int) -> Bool { value(at: position).isNull }
  /// The whole number there; `nil` for anything else.
  open func integer(at position: Int) -> Int64? {
    if case .integer(let value) = value(at: position) { value } else { nil }
  }
  /// The number there, `nil` for anything else.
  open func real(at position: Int) -> Double? { if case .real(let value) = value(at: position) { value } else { nil } }
  /// The text there, `nil` for anything else.
  open func text(at position: Int) -> String? { if case .text(let value) = value(at: position) { value } else { nil } }
}

/// A row in memory, as a source.
package final class StoredRowSource: RowSource {
  private let row: StoredRow

  package init(_ row: StoredRow) { self.row = row }

  package override var stamp: Stamp { row.stamp }

  package override func value(at position: Int) -> StoredValue {
    row.values.indices.contains(position) ? row.values[position] : .null
  }

  package override func collection(_ index: Int) -> [[StoredValue]] {
    row.collections.indices.contains(index) ? row.collections[index] : []
  }
}

/// The values of an element of a collection.
final class ElementSource: RowSource {
  private let values: [StoredValue]

  init(_ values: [StoredValue]) { self.values = values }

  override func value(at position: Int) -> StoredValue { values.indices.contains(position) ? values[position] : .null }
}
