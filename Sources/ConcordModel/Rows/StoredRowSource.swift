package import Concord

/// A source that reads a row in memory.
package final class StoredRowSource: RowSource {
  private let row: StoredRow

  package init(_ row: StoredRow) { self.row = row }

  package override var stamp: Stamp { row.stamp }

  package override func value(at position: Int) -> StoredValue {
    row.values.indices.contains(position) ? row.values[position] : .null
  }

  package override func collection(_ index: Int) -> StoredElements {
    row.collections.indices.contains(index) ? row.collections[index] : []
  }
}

/// A source that reads an element of a collection.
final class ElementSource: RowSource {
  private let values: StoredElements.Element

  init(_ values: StoredElements.Element) { self.values = values }

  override func value(at position: Int) -> StoredValue { values.indices.contains(position) ? values[position] : .null }
}
