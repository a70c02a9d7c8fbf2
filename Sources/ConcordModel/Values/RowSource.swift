public import Concord

/// A source of a row's values, such as a statement or a row in memory. A store type subclasses it.
///
/// It is a class with overridden methods, since each column of each row is read through it, which must cost little.
open class RowSource {
  /// Creates a source without values, for subclasses.
  public init() {}

  /// Returns the value at a position of the row's description.
  ///
  /// - Parameter position: the index of the column, from 0.
  open func value(at position: Int) -> StoredValue { .null }
  /// Returns the elements of a collection. That of a dictionary begins with the key.
  ///
  /// - Parameter index: the index of the collection among those of the entity, from 0.
  /// - Throws: an error of the store if the elements cannot be read.
  open func collection(_ index: Int) throws -> StoredElements { [] }

  /// The number of rows that are at hand in the source, of which this is one.
  open var rowCount: Int { 1 }

  /// The stamp of the row.
  open var stamp: Stamp { -.infinity }

  /// Whether the value at a position is the same as another value. A store type can compare without copying the value.
  open func isSame(_ value: StoredValue, at position: Int) -> Bool { value == self.value(at: position) }
  /// Whether the value at a position is `null`.
  open func isNull(at position: Int) -> Bool { value(at: position).isNull }
  /// Returns the integer at a position; `nil` for any other value.
  open func integer(at position: Int) -> Int64? {
    if case .integer(let value) = value(at: position) { value } else { nil }
  }
  /// Returns the number with a fraction at a position; `nil` for any other value.
  open func real(at position: Int) -> Double? { if case .real(let value) = value(at: position) { value } else { nil } }
  /// Returns the text at a position; `nil` for any other value.
  open func text(at position: Int) -> String? { if case .text(let value) = value(at: position) { value } else { nil } }
}
