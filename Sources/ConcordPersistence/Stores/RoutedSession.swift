import Concord
import ConcordModel

/// Reads and writes several stores as one: each type where it is kept.
final class RoutedSession<Session>: RowReading {
  private let sessions: [EntityDescription: Session]
  /// Of the store that keeps the outbox.
  private let home: Session?
  private let asReading: (Session) -> any RowReading

  private init(
    _ sessions: [EntityDescription: Session], _ home: Session?, _ asReading: @escaping (Session) -> any RowReading
  ) {
    self.sessions = sessions
    self.home = home
    self.asReading = asReading
  }

  private func session(_ entity: EntityDescription) throws -> Session {
    guard let session = sessions[entity] else { throw StoreError.noStore(entity: entity.name) }
    return session
  }

  private func reading(_ entity: EntityDescription) throws -> any RowReading { asReading(try session(entity)) }

  func row(of key: EntityKey) throws -> StoredRow? { try reading(key.entity).row(of: key) }

  func withRow<R>(of key: EntityKey, _ body: (RowSource) throws -> R) throws -> R? {
    try reading(key.entity).withRow(of: key, body)
  }

  func rows(_ query: RowQuery, _ body: (StoredValue, RowSource) throws -> Bool) throws {
    try reading(query.entity).rows(query, body)
  }

  func entities(_ query: RowQuery, _ body: (() -> StoredValue, RowSource) throws -> Bool) throws {
    try reading(query.entity).entities(query, body)
  }

  func count(_ query: RowQuery) throws -> Int { try reading(query.entity).count(query) }

  /// Types without a store have no rows.
  func referrers(to key: EntityKey, in entity: EntityDescription) throws -> [StoredValue] {
    try sessions[entity].map { try asReading($0).referrers(to: key, in: entity) } ?? []
  }

  func outbox(after version: OutboxVersion?) throws -> OutboxChanges {
    try home.map { try asReading($0).outbox(after: version) } ?? OutboxChanges()
  }
}

extension RoutedSession: RowWriting where Session == any RowWriting {
  convenience init(writing sessions: [EntityDescription: any RowWriting], home: (any RowWriting)?) {
    self.init(sessions, home) { $0 }
  }

  var changedKeys: [EntityKey] {
    var seen: Set<ObjectIdentifier> = []
    return sessions.values.filter { seen.insert(ObjectIdentifier($0)).inserted }.flatMap(\.changedKeys)
  }

  func insert(_ row: StoredRow, for key: EntityKey) throws -> Bool { try session(key.entity).insert(row, for: key) }

  func insertOrReplaceOlder(_ row: StoredRow, for key: EntityKey) throws -> Bool {
    try session(key.entity).insertOrReplaceOlder(row, for: key)
  }

  func update(_ row: StoredRow, replacing old: StoredRow, for key: EntityKey) throws {
    try session(key.entity).update(row, replacing: old, for: key)
  }

  func update(_ key: EntityKey, _ changed: ColumnSet, of values: ArraySlice<StoredValue>, stamp: Stamp) throws {
    try session(key.entity).update(key, changed, of: values, stamp: stamp)
  }

  func replace(_ row: StoredRow, ifSameAs base: StoredRow, for key: EntityKey) throws -> Bool {
    try session(key.entity).replace(row, ifSameAs: base, for: key)
  }

  func delete(_ key: EntityKey) throws { try session(key.entity).delete(key) }

  func outboxRow(_ number: Int64) throws -> OutboxRow? { try home?.outboxRow(number) }

  func writeOutbox(_ row: OutboxRow) throws -> OutboxRow {
    guard let home else { throw StoreError.noStore(entity: row.entity) }
    return try home.writeOutbox(row)
  }

  func clearOutbox() throws { try home?.clearOutbox() }
}

extension RoutedSession where Session == any RowReading {
  convenience init(reading sessions: [EntityDescription: any RowReading], home: (any RowReading)?) {
    self.init(sessions, home) { $0 }
  }
}
