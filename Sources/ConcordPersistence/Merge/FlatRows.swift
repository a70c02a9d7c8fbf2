import Concord
import ConcordModel

/// The rows of objects that contain no others, one behind the other in one array: an array for each would take longer than all
/// that is done with it.
struct FlatRows {
  let keys: [StoredValue]
  private let values: [StoredValue]
  private let columns: Int
  /// Where the rows are, in the order of their keys, each key once: of several the last one. `nil` if all are so as they are.
  private let order: [Int]?

  /// Writes the rows of objects.
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

  /// How many there are with different keys.
  var count: Int { order?.count ?? keys.count }

  /// Where the row is that is the next in order.
  func index(_ position: Int) -> Int { order?[position] ?? position }

  func value(_ index: Int, at column: Int) -> StoredValue { values[index * columns + column] }

  /// The values of a row, which are a part of the array.
  func values(_ index: Int) -> ArraySlice<StoredValue> { values[index * columns..<(index + 1) * columns] }

  func row(_ index: Int, stamp: Stamp) -> StoredRow {
    StoredRow(values: Array(values(index)), collections: [], stamp: stamp)
  }
}
