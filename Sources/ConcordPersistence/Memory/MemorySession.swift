import Concord
import ConcordModel

/// A session that reads and writes a memory store while its lock is held, and keeps the previous rows.
final class MemorySession: RowWriting {
  let tables: MemoryTables
  /// The rows before the session, of all keys that it wrote.
  private(set) var undo: [EntityKey: StoredRow?] = [:]
  private var outboxUndo: [MemoryOutbox.Undo] = []
  /// The notes before the session, of all names that it wrote.
  private var notesUndo: [NoteName: String?] = [:]
  private let remembersDeletions: Bool
  /// The deletions noted by the session, and what was noted of the entities before.
  private(set) var noted: [(key: EntityKey, before: MemoryDeletions.Entry?)] = []

  init(_ tables: MemoryTables, remembersDeletions: Bool) {
    self.tables = tables
    self.remembersDeletions = remembersDeletions
  }

  var changedKeys: [EntityKey] { Array(undo.keys) }

  func rollBack() {
    // Unique values may have moved between rows, so all written rows are removed before any is restored.
    for key in undo.keys { try? tables.replace(tables.rows[key.entity]?[key.id], with: nil, for: key) }
    for (key, row) in undo { try? tables.replace(nil, with: row, for: key) }
    undo = [:]
    while let change = outboxUndo.popLast() { tables.outbox.undo(change) }
    for (key, before) in noted.reversed() { tables.deletions.restore(key, before) }
    noted = []
    for (name, value) in notesUndo { tables.notes[name] = value }
    notesUndo = [:]
  }

  /// Adds what the session has changed to the feed.
  func addToFeed() {
    guard tables.feed != nil, !undo.isEmpty else { return }
    let entities = Dictionary(tables.rows.keys.map { ($0.name, $0) }) { first, _ in first }
    let changes = undo.map { key, before in
      var change = RowChange(key: key, before: before?.values)
      if let row = row(of: key) {
        for (target, id) in key.entity.references(of: row, differingFrom: before) {
          if let entity = entities[target] { change.added.insert(EntityKey(entity, id)) }
        }
      }
      return change
    }
    tables.feed?.add(changes)
  }

  // MARK: Reading

  func row(of key: EntityKey) -> StoredRow? { tables.rows[key.entity]?[key.id] }

  func withRow<R>(of key: EntityKey, _ body: (RowSource) throws -> R) throws -> R? {
    try row(of: key).map { try body(StoredRowSource($0)) }
  }

  func rows(_ query: RowQuery, _ body: (StoredValue, RowSource) throws -> Bool) throws {
    for (key, row) in try found(query) where try !body(key, StoredRowSource(row)) { return }
  }

  func count(_ query: RowQuery) throws -> Int {
    let all = tables.rows[query.entity] ?? [:]
    let found = query.condition == .always(true) ? all.count : try all.count { try query.holds($1, key: $0, self) }
    return min(max(0, found - query.start), query.maximum)
  }

  func plan(of query: RowQuery) -> QueryPlan {
    QueryPlan([TableAccess(table: query.entity.name, .scan)], sorts: !query.order.isEmpty)
  }

  private func found(_ query: RowQuery) throws -> some Sequence<(key: StoredValue, value: StoredRow)> {
    let all = try (tables.rows[query.entity] ?? [:]).filter { try query.holds($1, key: $0, self) }
    return all.map { (sortKey: query.sortKey($0) { [row = $1] in row.values[$0] }, row: $1) }
      .sorted { query.precedes($0.sortKey, $1.sortKey) }
      .dropFirst(query.start).prefix(query.maximum).map { (key: $0.sortKey.key, value: $0.row) }
  }

  func referrers(to key: EntityKey, in entity: EntityDescription) -> [StoredValue] {
    let found = tables.referrers[.init(target: key.entity.name, key: key.id)] ?? [:]
    return found.keys.filter { $0.entity == entity }.map(\.id)
  }

  func deletion(of key: EntityKey) -> Stamp? { tables.deletions[key]?.stamp }

  // MARK: Writing

  func insert(_ row: StoredRow, for key: EntityKey) throws -> Bool {
    guard self.row(of: key) == nil else { return false }
    try replace(nil, with: row, for: key)
    return true
  }

  func update(_ row: StoredRow, replacing old: StoredRow, for key: EntityKey) throws {
    try replace(self.row(of: key), with: row, for: key)
  }

  func delete(_ key: EntityKey) throws {
    guard let old = row(of: key) else { return }
    try replace(old, with: nil, for: key)
  }

  func delete(_ key: EntityKey, stamp: Stamp) throws {
    try delete(key)
    guard remembersDeletions else { return }
    noted.append((key, tables.deletions[key]))
    tables.deletions.note(key, stamp)
  }

  private func replace(_ old: StoredRow?, with new: StoredRow?, for key: EntityKey) throws {
    try tables.replace(old, with: new, for: key)
    if undo[key] == nil { undo[key] = .some(old) }
  }

  // MARK: Notes and the feed

  func note(_ name: NoteName) -> String? { tables.notes[name] }

  func notes(in space: String, after name: String?, _ body: (String, String) throws -> Bool) throws {
    for (name, value) in tables.notes.notes(in: space, after: name) where try !body(name, value) { return }
  }

  func setNote(_ value: String?, for name: NoteName) {
    if notesUndo[name] == nil { notesUndo[name] = .some(tables.notes[name]) }
    tables.notes[name] = value
  }

  func clearNotes(in space: String) { for name in tables.notes.names(in: space) { setNote(nil, for: name) } }

  func position() throws -> StorePosition {
    guard let feed = tables.feed else { throw StoreError.withoutFeed("in memory") }
    return feed.position
  }

  func changes(since position: StorePosition, of entities: Set<EntityDescription>?, limit: Int) throws -> RowChanges? {
    guard let feed = tables.feed else { throw StoreError.withoutFeed("in memory") }
    return try feed.changes(since: position, of: entities, limit: limit)
  }

  func changed(_ keys: [EntityKey], since position: StorePosition) throws -> Set<EntityKey>? {
    guard let feed = tables.feed else { throw StoreError.withoutFeed("in memory") }
    return feed.changed(keys, since: position)
  }

  // MARK: The outbox

  func outbox(after version: OutboxVersion?) -> OutboxChanges { tables.outbox.changes(after: version) }
  func outboxRow(_ number: Int64) -> OutboxRow? { tables.outbox.rows[number] }

  func writeOutbox(_ row: OutboxRow) -> OutboxRow {
    let (row, undo) = tables.outbox.write(row)
    outboxUndo.append(undo)
    return row
  }

  func clearOutbox() { outboxUndo.append(tables.outbox.clear()) }
}
