import Concord
import ConcordModel

/// Finds what makes stored rows equal to given ones: one pass over both, sorted by the uniqueness attributes.
struct RowMerge {
  let entity: EntityDescription
  let uniqueness: [StoredColumn]
  /// The properties that are compared and overwritten.
  let properties: [PropertyRange]
  let subset: RowFilter
  let condition: RowFilter
  let stamp: MergeStamp
  /// Whether nothing is removed.
  let keepsMissing: Bool
  let model: Model

  /// The rows to be written, and those to be removed.
  private(set) var writes: [EntityKey: Write] = [:]
  private(set) var order: [EntityKey] = []
  private(set) var removals: Set<EntityKey> = []
  /// The number of stored rows that were compared.
  private(set) var compared = 0

  /// The rows that objects were found in. Each is that of one object.
  private var matched: Set<StoredValue> = []
  private var unmatched: [IncomingRow] = []

  struct Write {
    let row: StoredRow
    let base: PendingChange.Base
  }

  init(
    _ entity: EntityDescription, uniqueness: [StoredColumn], ignored: Set<Int>, subset: RowFilter, condition: RowFilter,
    stamp: MergeStamp, keepsMissing: Bool, model: Model
  ) {
    self.entity = entity
    self.uniqueness = uniqueness
    self.subset = subset
    self.condition = condition
    self.stamp = stamp
    self.keepsMissing = keepsMissing
    self.model = model
    properties = entity.properties.enumerated().filter { !ignored.contains($0.offset) }.map(\.element)
  }

  private var isById: Bool { uniqueness == [.key] }

  /// Whether all uniqueness attributes are such columns.
  private func isCompared(_ isSo: (ColumnDescription) -> Bool) -> Bool {
    uniqueness.allSatisfy { isCompared($0, isSo) }
  }

  private func isCompared(_ column: StoredColumn, _ isSo: (ColumnDescription) -> Bool) -> Bool {
    switch column {
    case .key: true
    case .position(let position): isSo(entity.columns[position])
    }
  }

  /// - Parameters:
  ///   - rows: the rows to be stored.
  ///   - nested: the rows of the entities inside, by key.
  mutating func run(_ rows: [IncomingRow], nested: [EntityKey: StoredRow], _ reading: any RowReading) throws {
    let rows = isById ? rows : rows.uniqueByKey()
    // Several readings come in the order of the ids only.
    if isCompared(\.isExact), isById || subset.readings.count <= 1 {
      try pass(rows.sortedAndUnique(), reading)
    } else {
      try passByIdentity(rows, reading)
    }
    // A row found by its attributes is not available to an object that has only its id.
    if !isById, !subset.isAll { try findOutside(reading) }
    for row in unmatched { try place(row, reading) }
    for (key, row) in nested where writes[key] == nil { try mergeNested(row, key, reading) }
    // Given rows, and rows inside of them, are not removed.
    removals.subtract(writes.keys)
    removals.subtract(nested.keys)
  }

  // MARK: The pass

  private mutating func pass(_ incoming: [IncomingRow], _ reading: any RowReading) throws {
    var next = 0
    let order = isById ? [] : uniqueness.map { StoredOrder($0) }
    for wanted in subset.readings {
      try reading.rows(RowQuery(entity, where: wanted, order: order)) { key, source in
        guard try subset.isAll || subset.holds(key, source) else { return true }
        compared += 1
        while next < incoming.count {
          let order = incoming[next].order(key, source, uniqueness)
          if order > 0 { break }
          next += 1
          if order == 0 {
            try update(incoming[next - 1], key, source)
            return true
          }
          unmatched.append(incoming[next - 1])
        }
        if !keepsMissing, stamp.isNewer(than: source.stamp), try condition.holds(key, source) {
          removals.insert(EntityKey(entity, key))
        }
        return true
      }
    }
    unmatched += incoming[next...]
  }

  /// Finds the rows of objects by a table of the objects: the order of stored forms does not tell which are equal values.
  private mutating func passByIdentity(_ rows: [IncomingRow], _ reading: any RowReading) throws {
    var incoming = IncomingRows(rows, uniqueness, entity)
    for wanted in subset.readings {
      try reading.rows(RowQuery(entity, where: wanted)) { key, source in
        guard try subset.isAll || subset.holds(key, source) else { return true }
        compared += 1
        if let row = incoming.take(key, source) {
          try update(row, key, source)
        } else if !keepsMissing, stamp.isNewer(than: source.stamp), try condition.holds(key, source) {
          removals.insert(EntityKey(entity, key))
        }
        return true
      }
    }
    unmatched = incoming.rest
  }

  /// An object and the row that it was found in, which keeps its id.
  private mutating func update(_ incoming: IncomingRow, _ key: StoredValue, _ source: RowSource) throws {
    if !isById { matched.insert(key) }
    guard let stamp = stamp.over(source.stamp) else { return }
    let properties = properties.filter { !incoming.omitted.contains($0.name) }
    let isSame = try properties.allSatisfy { try $0.isSame(incoming.row, source) || isIdentity($0, incoming, key) }
    if isSame { return }
    guard try condition.holds(key, source) else { return }
    let present = try StoredRow(source, entity)
    var row = present
    for property in properties where !isIdentity(property, incoming, key) {
      property.copy(from: incoming.row, to: &row)
    }
    row.stamp = stamp
    write(row, EntityKey(entity, key), .row(present))
  }

  /// Whether a property is the id, which is another one than that of the row.
  private func isIdentity(_ property: PropertyRange, _ incoming: IncomingRow, _ key: StoredValue) -> Bool {
    guard let position = entity.idPosition else { return false }
    return incoming.key != key && property.columns.contains(position)
  }

  private mutating func write(_ row: StoredRow, _ key: EntityKey, _ base: PendingChange.Base) {
    writes[key] = Write(row: row, base: base)
    order.append(key)
  }

  // MARK: Stored rows that were not given

  /// Inserts a row. A reference to an entity that is left out is removed by the save, as if the entity had been removed
  /// afterwards.
  private mutating func insert(_ row: StoredRow, _ key: EntityKey, _ reading: any RowReading) throws {
    guard let stamp = stamp.over(try reading.deletion(of: key)) else { return }
    var row = row
    row.stamp = stamp
    write(row, key, .absent)
  }

  /// Finds objects by their attributes outside of the subset.
  private mutating func findOutside(_ reading: any RowReading) throws {
    // For other columns a store cannot evaluate which values are equal. Without an index each object would read the whole table.
    let isIndexed = uniqueness.contains { column in isCompared(column) { $0.isIndexed || $0.isUnique } }
    if isCompared({ $0.isExact || $0.comparison == .text }), isIndexed || unmatched.count <= 1 {
      unmatched = try unmatched.filter { try !findOutside($0, reading) }
    } else if !unmatched.isEmpty {
      var incoming = IncomingRows(unmatched, uniqueness, entity)
      try reading.rows(RowQuery(entity)) { key, source in
        if let row = incoming.take(key, source) {
          compared += 1
          try update(row, key, source)
        }
        return true
      }
      unmatched = incoming.rest
    }
  }

  /// Whether an object is found by its attributes outside of the subset.
  private mutating func findOutside(_ incoming: IncomingRow, _ reading: any RowReading) throws -> Bool {
    var isFound = false
    let values = [incoming.first] + incoming.others
    let same = StoredCondition.all(
      zip(uniqueness, values).map { column, value in
        isCompared(column, \.isExact) ? .isEqual(column, value) : .relates(.column(column), .sameText, .value(value))
      })
    try reading.rows(RowQuery(entity, where: same, limit: 1)) { key, source in
      isFound = true
      compared += 1
      try update(incoming, key, source)
      return false
    }
    return isFound
  }

  /// Inserts an object, unless it is stored outside of the subset.
  private mutating func place(_ incoming: IncomingRow, _ reading: any RowReading) throws {
    let key = EntityKey(entity, incoming.key)
    if isById, subset.isAll { return try insert(incoming.row, key, reading) }
    if matched.contains(incoming.key) {
      throw StoreError.notUnique(entity: entity.name, columns: "id '\(incoming.key)' and uniqueness attributes")
    }
    let found: Void? = try reading.withRow(of: key) { source in
      compared += 1
      try update(incoming, incoming.key, source)
    }
    if found == nil {
      try insert(incoming.row, key, reading)
    } else {
      removals.remove(key)
    }
  }

  // MARK: Entities inside

  private mutating func mergeNested(_ row: StoredRow, _ key: EntityKey, _ reading: any RowReading) throws {
    guard let present = try reading.row(of: key) else { return try insert(row, key, reading) }
    compared += 1
    var row = row
    for property in model.omittedProperties(of: row, key.entity) { property.copy(from: present, to: &row) }
    guard let stamp = stamp.over(present.stamp), !row.holdsSame(as: present) else { return }
    row.stamp = stamp
    write(row, key, .row(present))
  }
}

extension PropertyRange {
  /// Whether a row holds the same there as a source, which is not copied for it.
  fileprivate func isSame(_ row: StoredRow, _ source: RowSource) throws -> Bool {
    for position in columns where row.values[position] != source.value(at: position) { return false }
    for index in collections where try row.collections[index] != source.collection(index) { return false }
    return true
  }
}

extension StoredRow {
  /// A copy of the row that a source stands on.
  init(_ source: RowSource, _ entity: EntityDescription) throws {
    self.init(
      values: entity.columns.indices.map { source.value(at: $0) },
      collections: try entity.collections.indices.map { try source.collection($0) }, stamp: source.stamp)
  }
}
