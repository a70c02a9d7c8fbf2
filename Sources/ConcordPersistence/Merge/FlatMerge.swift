import Concord
import ConcordModel

/// A merge that makes stored rows equal to given ones in one pass over both, sorted by their keys, and writes the
/// differences in the same transaction: for entities that contain no entities and are identified by their ids.
struct FlatMerge {
  let entity: EntityDescription
  let rows: FlatRows
  /// The columns that are compared and overwritten.
  let positions: [Int]
  let subset: RowFilter
  let condition: RowFilter
  let stamp: MergeStamp

  /// The updates: by the index of a row, the positions that differ.
  private(set) var updates: [(index: Int, changed: ColumnSet, stamp: Stamp)] = []
  private(set) var inserts: [(index: Int, stamp: Stamp)] = []
  private(set) var removals: [(key: StoredValue, stamp: Stamp)] = []
  /// The number of stored rows that were compared.
  private(set) var compared = 0

  init(
    _ entity: EntityDescription, _ rows: FlatRows, ignored: Set<Int>, subset: RowFilter, condition: RowFilter,
    stamp: MergeStamp
  ) {
    self.entity = entity
    self.rows = rows
    self.subset = subset
    self.condition = condition
    self.stamp = stamp
    positions = entity.properties.enumerated().filter { !ignored.contains($0.offset) }.flatMap { $0.element.columns }
  }

  // MARK: Finding what differs

  /// Compares the stored rows with the given ones.
  mutating func compare(_ reading: any RowReading) throws {
    var next = 0
    var missing: [Int] = []
    for wanted in subset.readings {
      try reading.rows(RowQuery(entity, where: wanted)) { key, source in
        guard try subset.isAll || subset.holds(key, source) else { return true }
        compared += 1
        while next < rows.count {
          let index = rows.index(next)
          if rows.keys[index] == key {
            next += 1
            try compareRow(index, key, source)
            return true
          }
          if !StoredValue.precedes(rows.keys[index], key) { break }
          next += 1
          missing.append(index)
        }
        if let stamp = stamp.over(source.stamp), try condition.holds(key, source) { removals.append((key, stamp)) }
        return true
      }
    }
    while next < rows.count {
      missing.append(rows.index(next))
      next += 1
    }
    try compareMissing(missing, reading)
  }

  /// Compares objects that are not stored, or outside of the subset. What is known of all of them is read at once.
  private mutating func compareMissing(_ missing: [Int], _ reading: any RowReading) throws {
    if missing.isEmpty { return }
    let keys = missing.map { EntityKey(entity, rows.keys[$0]) }
    if !subset.isAll { try reading.prepare(keys) }
    let deletions = try reading.deletions(of: keys)
    for (index, key) in zip(missing, keys) {
      if !subset.isAll, try compareOutside(index, key, reading) { continue }
      if let stamp = stamp.over(deletions[key]) { inserts.append((index, stamp)) }
    }
  }

  private mutating func compareRow(_ index: Int, _ key: StoredValue, _ source: RowSource) throws {
    guard let stamp = stamp.over(source.stamp) else { return }
    var changed = ColumnSet()
    for position in positions where !source.isSame(rows.value(index, at: position), at: position) {
      changed.insert(position)
    }
    if !changed.isEmpty, try condition.holds(key, source) { updates.append((index, changed, stamp)) }
  }

  /// Compares an object that may be stored outside of the subset.
  ///
  /// - Returns: whether it is.
  private mutating func compareOutside(_ index: Int, _ key: EntityKey, _ reading: any RowReading) throws -> Bool {
    try reading.withRow(of: key) { source in
      compared += 1
      try compareRow(index, key.id, source)
      return true
    } ?? false
  }

  // MARK: Writing it

  /// Writes the differences.
  ///
  /// - Returns: the rows that were written, including those that contained removed entities.
  func write(_ writing: any RowWriting, _ model: Model) throws -> PendingCounts {
    if entity.hasUniqueColumns, updates.count > 1 {
      try writing.prepareUniqueValues(
        of: updates.map { (EntityKey(entity, rows.keys[$0.index]), rows.row($0.index, stamp: $0.stamp)) })
    }
    for (index, changed, stamp) in updates {
      try writing.update(EntityKey(entity, rows.keys[index]), changed, of: rows.values(index), stamp: stamp)
    }
    try insert(writing)
    var counts = PendingCounts(inserts: inserts.count, updates: updates.count, deletes: removals.count)
    if removals.isEmpty { return counts }
    guard try mayBeReferredTo(writing, model) else {
      for (key, stamp) in removals { try writing.delete(EntityKey(entity, key), stamp: stamp) }
      return counts
    }
    var owners: [EntityKey: Bool] = [:]
    try RowRemoval(model: model, reading: writing) { key, row in
      owners[key] = false
      if let old = try writing.row(of: key) { try writing.update(row, replacing: old, for: key) }
    } delete: { key, stamp in
      if key.entity != entity { owners[key] = true }
      guard let stored = try writing.withRow(of: key, { $0.stamp }) else { return }
      try writing.delete(key, stamp: max(stamp, stored))
    }.remove(Dictionary(removals.map { (EntityKey(entity, $0), $1) }) { max($0, $1) })
    for isRemoved in owners.values { if isRemoved { counts.deletes += 1 } else { counts.updates += 1 } }
    return counts
  }

  /// Inserts all rows at once: a store may need a statement for each, or one for many.
  private func insert(_ writing: any RowWriting) throws {
    if inserts.isEmpty { return }
    let new: [KeyedRow] = inserts.map { (EntityKey(entity, rows.keys[$0.index]), rows.row($0.index, stamp: $0.stamp)) }
    for (row, isWritten) in zip(new, try writing.insertMissing(new)) where !isWritten {
      // It needs a unique value of another row, and says so.
      _ = try writing.insert(row.row, for: row.key)
    }
  }

  /// Whether there is anything that could contain an entity of the type.
  private func mayBeReferredTo(_ reading: any RowReading, _ model: Model) throws -> Bool {
    try model.entities.contains { owner in
      guard owner.targets.contains(where: { $0 == entity.type }) else { return false }
      return try reading.count(RowQuery(owner, limit: 1)) > 0
    }
  }
}
