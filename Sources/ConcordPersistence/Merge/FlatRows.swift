import Concord
import ConcordModel

/// The rows of objects that contain no others, in one array: an array for each would take longer than everything that is done
/// with it.
struct FlatRows {
  let keys: [StoredValue]
  private let values: [StoredValue]
  private let columns: Int
  /// The indices of the rows in the order of their keys, each key once, with the last row of a key; `nil` if the rows are in
  /// this order.
  private let order: [Int]?

  /// Creates the rows of objects.
  init<T: PersistentEntity>(_ objects: [T], _ entity: EntityDescription) throws {
    let columns = entity.columns.count
    var writer = RowWriter(columns: objects.count * columns)
    var keys: [StoredValue] = []
    keys.reserveCapacity(objects.count)
    var isSorted = true
    for object in objects {
      let key = try Occurrences.key(of: object, entity).id
      if isSorted, let last = keys.last, !StoredValue.precedes(last, key) { isSorted = false }
      keys.append(key)
      try object.write(to: &writer)
      try entity.check(written: writer, objects: keys.count)
    }
    order = isSorted ? nil : Self.order(of: keys)
    (self.keys, values, self.columns) = (keys, writer.values, columns)
  }

  private static func order(of keys: [StoredValue]) -> [Int] {
    let sorted = keys.indices.sorted { a, b in
      if StoredValue.precedes(keys[a], keys[b]) { return true }
      return a < b && !StoredValue.precedes(keys[b], keys[a])
    }
    var order: [Int] = []
    order.reserveCapacity(sorted.count)
    for index in sorted {
      if let last = order.last, !StoredValue.precedes(keys[last], keys[index]) { order.removeLast() }
      order.append(index)
    }
    return order
  }

  /// The number of rows with different keys.
  var count: Int { order?.count ?? keys.count }

  /// Returns the index of the row at a position of the order.
  func index(_ position: Int) -> Int { order?[position] ?? position }

  func value(_ index: Int, at column: Int) -> StoredValue { values[index * columns + column] }

  /// Returns the values of a row, as a slice of the array.
  func values(_ index: Int) -> ArraySlice<StoredValue> { values[index * columns..<(index + 1) * columns] }

  func row(_ index: Int, stamp: Stamp) -> StoredRow {
    StoredRow(values: Array(values(index)), collections: [], stamp: stamp)
  }
}
