import ConcordModel

/// The tables of a memory store.
final class MemoryTables {
  var rows: [EntityDescription: [StoredValue: StoredRow]] = [:]
  /// The rows that refer to an entity, with the number of places: the counterpart of an index on the reference in a file.
  var referrers: [Reference: [EntityKey: Int]] = [:]
  /// The keys of the rows that have the values of unique columns.
  var uniques: [Unique: StoredValue] = [:]
  var outbox = MemoryOutbox()
  var deletions = MemoryDeletions()
  var notes = MemoryNotes()
  /// The feed of changes; `nil` until it is started.
  var feed: MemoryFeed?

  struct Reference: Hashable {
    let target: String
    let key: StoredValue
  }

  struct Unique: Hashable {
    let entity: EntityDescription
    let position: Int
    /// The key that equal values share.
    let value: StoredValue
  }

  /// Replaces a row by another one; `nil` stands for no row.
  func replace(_ old: StoredRow?, with new: StoredRow?, for key: EntityKey) throws {
    if let new { try checkUnique(new, for: key) }
    if let old {
      for (target, referenced) in key.entity.references(of: old, differingFrom: new) {
        let reference = Reference(target: target, key: referenced)
        referrers[reference]?[key, default: 0] -= 1
        if referrers[reference]?[key] == 0 { referrers[reference]?[key] = nil }
        if referrers[reference]?.isEmpty == true { referrers[reference] = nil }
      }
      for unique in uniques(of: old, for: key) { uniques[unique] = nil }
    }
    if let new {
      for (target, referenced) in key.entity.references(of: new, differingFrom: old) {
        referrers[Reference(target: target, key: referenced), default: [:]][key, default: 0] += 1
      }
      for unique in uniques(of: new, for: key) { uniques[unique] = key.id }
    }
    rows[key.entity, default: [:]][key.id] = new
  }

  private func uniques(of row: StoredRow, for key: EntityKey) -> [Unique] {
    key.entity.columns.indices.compactMap { position in
      let column = key.entity.columns[position]
      guard column.isUnique, let value = column.coding.key(of: row.values[position]) else { return nil }
      return Unique(entity: key.entity, position: position, value: value)
    }
  }

  private func checkUnique(_ row: StoredRow, for key: EntityKey) throws {
    for unique in uniques(of: row, for: key) {
      if let holder = uniques[unique], holder != key.id {
        throw StoreError.notUnique(entity: key.entity.name, columns: key.entity.columns[unique.position].name)
      }
    }
  }
}
