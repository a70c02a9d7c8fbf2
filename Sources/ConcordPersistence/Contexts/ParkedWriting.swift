import Concord
import ConcordModel

/// A writer of rows that exchange unique values: the stored rows are removed first, and inserted in their new form. Until
/// then they read as they were.
final class ParkedWriting: RowWriting {
  private let base: any RowWriting
  /// The rows that were removed, and not written since.
  private var parked: [EntityKey: StoredRow] = [:]

  init(_ base: any RowWriting, parking keys: [EntityKey]) throws {
    self.base = base
    for key in keys {
      guard parked[key] == nil, let row = try base.row(of: key) else { continue }
      try base.delete(key)
      parked[key] = row
    }
  }

  /// Inserts removed rows that were not written.
  func putBack() throws {
    for (key, row) in parked { _ = try base.insert(row, for: key) }
    parked = [:]
  }

  // MARK: Reading

  func row(of key: EntityKey) throws -> StoredRow? { try parked[key] ?? base.row(of: key) }

  func withRow<R>(of key: EntityKey, _ body: (RowSource) throws -> R) throws -> R? {
    if let row = parked[key] { return try body(StoredRowSource(row)) }
    return try base.withRow(of: key, body)
  }

  // A save reads single rows only.
  func rows(_ query: RowQuery, _ body: (StoredValue, RowSource) throws -> Bool) throws { try base.rows(query, body) }
  func count(_ query: RowQuery) throws -> Int { try base.count(query) }
  func referrers(to key: EntityKey, in entity: EntityDescription) throws -> [StoredValue] {
    try base.referrers(to: key, in: entity)
  }

  func deletion(of key: EntityKey) throws -> Stamp? { parked[key] == nil ? try base.deletion(of: key) : nil }

  // MARK: Writing

  var changedKeys: [EntityKey] { base.changedKeys }

  func insert(_ row: StoredRow, for key: EntityKey) throws -> Bool {
    parked[key] == nil ? try base.insert(row, for: key) : false
  }

  func update(_ row: StoredRow, replacing old: StoredRow, for key: EntityKey) throws {
    if parked.removeValue(forKey: key) == nil { return try base.update(row, replacing: old, for: key) }
    _ = try base.insert(row, for: key)
  }

  func delete(_ key: EntityKey) throws {
    if parked.removeValue(forKey: key) == nil { try base.delete(key) }
  }

  func delete(_ key: EntityKey, stamp: Stamp) throws {
    parked[key] = nil
    try base.delete(key, stamp: stamp)
  }
}
