import Concord
import ConcordModel

/// Reads and writes several stores as one: each type where it is kept.
final class RoutedSession<Session>: RowReading, OutboxesReading {
  private let sessions: [EntityDescription: Session]
  /// The sessions of the stores whose outboxes are read, or written one by one.
  private let readOutboxes: [StoreAttachment: Session]
  /// The sessions of the stores whose outboxes are written.
  private let writtenOutboxes: [Session]
  private let asReading: (Session) -> any RowReading
  private let noteMayReadAgain: () -> Void

  private init(
    _ sessions: [EntityDescription: Session], reading readOutboxes: [StoreAttachment: Session] = [:],
    writing writtenOutboxes: [Session] = [], mayReadAgain: @escaping () -> Void = {},
    _ asReading: @escaping (Session) -> any RowReading
  ) {
    noteMayReadAgain = mayReadAgain
    (self.sessions, self.readOutboxes, self.writtenOutboxes) = (sessions, readOutboxes, writtenOutboxes)
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
    let reading = try reading(query.entity)
    if try isWithin(reading, query) { try reading.rows(query, body) } else { try rowsEvaluated(query, reading, body) }
  }

  func entities(_ query: RowQuery, _ body: (() -> StoredValue, RowSource) throws -> Bool) throws {
    let reading = try reading(query.entity)
    if try isWithin(reading, query) {
      try reading.entities(query, body)
    } else {
      try rowsEvaluated(query, reading) { key, source in try body({ key }, source) }
    }
  }

  func count(_ query: RowQuery) throws -> Int {
    let reading = try reading(query.entity)
    return try isWithin(reading, query) ? reading.count(query) : countEvaluated(query)
  }

  func steps(of query: RowQuery) throws -> [String] {
    let reading = try reading(query.entity)
    if try isWithin(reading, query) { return try reading.steps(of: query) }
    return try reading.steps(of: query.wider) + [
      "what the condition asks of rows in other stores is evaluated in memory"
    ]
  }

  func plan(of query: RowQuery) throws -> QueryPlan {
    let reading = try reading(query.entity)
    return try reading.plan(of: isWithin(reading, query) ? query : query.wider)
  }

  func unannouncedKeys() throws -> Set<EntityKey> {
    var seen: [any RowReading] = []
    var keys: Set<EntityKey> = []
    for reading in sessions.values.map(asReading) where !seen.contains(where: { $0 === reading }) {
      seen.append(reading)
      keys.formUnion(try reading.unannouncedKeys())
    }
    return keys
  }

  func mayReadAgain() {
    noteMayReadAgain()
    for session in sessions.values { asReading(session).mayReadAgain() }
  }

  func storeError(_ error: any Error, of entity: EntityDescription) -> any Error {
    sessions[entity].map { asReading($0).storeError(error, of: entity) } ?? error
  }

  /// Whether one store has all rows that a condition looks at.
  private func isWithin(_ reading: any RowReading, _ query: RowQuery) throws -> Bool {
    try query.condition.otherEntities.allSatisfy { try self.reading($0) === reading }
  }

  /// Types without a store have no rows.
  func referrers(to key: EntityKey, in entity: EntityDescription) throws -> [StoredValue] {
    try sessions[entity].map { try asReading($0).referrers(to: key, in: entity) } ?? []
  }

  /// Types without a store have no deletions.
  func deletion(of key: EntityKey) throws -> Stamp? {
    try sessions[key.entity].flatMap { try asReading($0).deletion(of: key) }
  }

  func deletions(of keys: [EntityKey]) throws -> [EntityKey: Stamp] {
    var found: [EntityKey: Stamp] = [:]
    for (entity, keys) in Dictionary(grouping: keys, by: \.entity) {
      guard let session = sessions[entity] else { continue }
      found.merge(try asReading(session).deletions(of: keys)) { $1 }
    }
    return found
  }

  func prepare(_ keys: [EntityKey]) throws {
    for (entity, keys) in Dictionary(grouping: keys, by: \.entity) {
      // Rows of a store that was detached are found missing when they are asked for.
      guard let session = sessions[entity] else { continue }
      try asReading(session).prepare(keys)
    }
  }

  /// The notes are those of the store whose outbox is written.
  func note(_ name: NoteName) throws -> String? { try writtenOutboxes.first.flatMap { try asReading($0).note(name) } }

  func notes(in space: String, after name: String?, _ body: (String, String) throws -> Bool) throws {
    if let store = writtenOutboxes.first { try asReading(store).notes(in: space, after: name, body) }
  }

  /// Several stores have several: see ``outboxes(after:)``.
  func outbox(after version: OutboxVersion?) throws -> OutboxChanges {
    try writtenOutboxes.first.map { try asReading($0).outbox(after: version) } ?? OutboxChanges()
  }

  func outboxes(after known: [StoreAttachment: OutboxVersion]) throws -> [StoreAttachment: OutboxChanges] {
    var changes: [StoreAttachment: OutboxChanges] = [:]
    for (attachment, session) in readOutboxes {
      changes[attachment] = try asReading(session).outbox(after: known[attachment])
    }
    return changes
  }
}

extension RoutedSession: AggregatingReading {
  func aggregate(_ aggregation: RowAggregation) throws -> RowGroups? {
    let reading = try reading(aggregation.entity)
    return try isWithin(reading, aggregation.rows) ? reading.aggregated(aggregation) : nil
  }

  func explain(_ aggregation: RowAggregation) throws -> (steps: [String], plan: QueryPlan)? {
    let reading = try reading(aggregation.entity)
    guard try isWithin(reading, aggregation.rows) else { return nil }
    return try (reading as? any AggregatingReading)?.explain(aggregation)
  }

  func mayHaveIndexes(_ entity: EntityDescription) throws -> Bool {
    try (reading(entity) as? any AggregatingReading)?.mayHaveIndexes(entity) ?? false
  }
}

extension RoutedSession: RankingReading {
  func best(_ query: RankedQuery) throws -> [RankedHit]? {
    let reading = try reading(query.entity)
    return try isWithin(reading, query.rows) ? (reading as? any RankingReading)?.best(query) : nil
  }

  func explainBest(_ query: RankedQuery) throws -> (steps: [String], plan: QueryPlan)? {
    let reading = try reading(query.entity)
    return try isWithin(reading, query.rows) ? (reading as? any RankingReading)?.explainBest(query) : nil
  }
}

extension RoutedSession: RowWriting where Session == any RowWriting {
  /// - Parameters:
  ///   - outboxes: the sessions of the stores whose outboxes are written as that of the session.
  ///   - byStore: the sessions of all stores whose outboxes are written.
  convenience init(
    writing sessions: [EntityDescription: any RowWriting], outboxes: [any RowWriting],
    byStore: [StoreAttachment: any RowWriting]
  ) {
    self.init(sessions, reading: byStore, writing: outboxes) { $0 }
  }

  var changedKeys: [EntityKey] {
    var seen: Set<ObjectIdentifier> = []
    return sessions.values.filter { seen.insert(ObjectIdentifier($0)).inserted }.flatMap(\.changedKeys)
  }

  func insert(_ row: StoredRow, for key: EntityKey) throws -> Bool { try session(key.entity).insert(row, for: key) }

  func insertOrReplaceOlder(_ row: StoredRow, for key: EntityKey) throws -> Bool {
    try session(key.entity).insertOrReplaceOlder(row, for: key)
  }

  func insertNewest(_ rows: [KeyedRow]) throws -> [Bool] { try routed(rows) { try $0.insertNewest($1) } }

  func insertMissing(_ rows: [KeyedRow]) throws -> [Bool] { try routed(rows) { try $0.insertMissing($1) } }

  private func routed(
    _ rows: [KeyedRow], _ insert: (any RowWriting, [KeyedRow]) throws -> [Bool]
  ) throws -> [Bool] {
    var isWritten = [Bool](repeating: false, count: rows.count)
    for (entity, positions) in Dictionary(grouping: rows.indices, by: { rows[$0].key.entity }) {
      for (position, result) in zip(positions, try insert(session(entity), positions.map { rows[$0] })) {
        isWritten[position] = result
      }
    }
    return isWritten
  }

  func prepareUniqueValues(of rows: [KeyedRow]) throws {
    for (entity, rows) in Dictionary(grouping: rows, by: \.key.entity) {
      try sessions[entity]?.prepareUniqueValues(of: rows)
    }
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

  func delete(_ key: EntityKey, stamp: Stamp) throws { try session(key.entity).delete(key, stamp: stamp) }

  func outboxRow(_ number: Int64) throws -> OutboxRow? { try writtenOutboxes.first?.outboxRow(number) }

  func writeOutbox(_ row: OutboxRow) throws -> OutboxRow {
    guard let outbox = writtenOutboxes.first else { throw StoreError.noStore(entity: row.entity) }
    return try outbox.writeOutbox(row)
  }

  func setNote(_ value: String?, for name: NoteName) throws {
    guard let store = writtenOutboxes.first else { throw StoreError.noStore(entity: name.space) }
    try store.setNote(value, for: name)
  }

  func clearNotes(in space: String) throws { try writtenOutboxes.first?.clearNotes(in: space) }

  func clearOutbox() throws { for outbox in writtenOutboxes { try outbox.clearOutbox() } }
}

extension RoutedSession: OutboxesWriting where Session == any RowWriting {
  var outboxes: [StoreAttachment: any RowWriting] { readOutboxes }

  func otherStore(of entity: EntityDescription) -> (any RowWriting)? {
    guard let session = sessions[entity], session !== writtenOutboxes.first else { return nil }
    return session
  }

  func isKept(_ entity: EntityDescription) -> Bool { sessions[entity] != nil }
}

extension RoutedSession where Session == any RowReading {
  convenience init(
    reading sessions: [EntityDescription: any RowReading], outboxes: [StoreAttachment: any RowReading],
    mayReadAgain: @escaping () -> Void = {}
  ) {
    self.init(sessions, reading: outboxes, mayReadAgain: mayReadAgain) { $0 }
  }
}
