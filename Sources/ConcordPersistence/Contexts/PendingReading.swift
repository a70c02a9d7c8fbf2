import Concord
import ConcordModel

/// A reading of rows as they will be when the pending changes are saved, merged with stored rows property by property.
final class PendingReading: RowReading, OutboxesReading {
  let base: any RowReading
  let pending: PendingChanges

  init(_ base: any RowReading, _ pending: PendingChanges) {
    self.base = base
    self.pending = pending
  }

  func unannouncedKeys() throws -> Set<EntityKey> { try base.unannouncedKeys() }

  func unannouncedKeys(preparing keys: [EntityKey]) throws -> Set<EntityKey> {
    try base.unannouncedKeys(preparing: keys)
  }

  func mayReadAgain() { base.mayReadAgain() }

  func storeError(_ error: any Error, of entity: EntityDescription) -> any Error { base.storeError(error, of: entity) }

  func prepare(_ keys: [EntityKey]) throws { try base.prepare(keys) }

  func row(of key: EntityKey) throws -> StoredRow? {
    if let change = pending[key] { return try row(change, key) }
    return try base.row(of: key)
  }

  func deletion(of key: EntityKey) throws -> Stamp? {
    let earlier = try base.deletion(of: key)
    guard let change = pending[key], change.row == nil else { return earlier }
    return max(change.stamp, earlier ?? change.stamp)
  }

  private func row(_ change: PendingChange, _ key: EntityKey) throws -> StoredRow? {
    guard change.row != nil, change.baseRow != nil, let stored = try base.row(of: key) else { return change.row }
    return change.row(over: stored, key.entity)
  }

  func withRow<R>(of key: EntityKey, _ body: (RowSource) throws -> R) throws -> R? {
    if let change = pending[key] { return try row(change, key).map { try body(StoredRowSource($0)) } }
    return try base.withRow(of: key, body)
  }

  func rows(_ query: RowQuery, _ body: (StoredValue, RowSource) throws -> Bool) throws {
    let changed = changedKeys(query.entity)
    let isBesideChanged = query.condition.otherEntities.contains(where: pending.mayChange)
    if changed.isEmpty {
      return try isBesideChanged ? rowsEvaluated(query, base, body) : base.rows(query, body)
    }
    // The rows of both, in one order. The base is read from its beginning, since pending rows move what comes after them.
    var waiting = try changed.compactMap { key -> (sortKey: SortKey, row: StoredRow)? in
      guard let row = try row(of: key), try query.holds(row, key: key.id, self) else { return nil }
      return (query.sortKey(key.id) { row.values[$0] }, row)
    }.sorted { query.precedes($0.sortKey, $1.sortKey) }[...]
    let replaced = Set(changed.map(\.id))
    var toSkip = query.start
    var remaining = query.maximum
    func take(_ key: StoredValue, _ source: RowSource) throws -> Bool {
      if toSkip > 0 {
        toSkip -= 1
        return true
      }
      guard remaining > 0 else { return false }
      remaining -= 1
      return try body(key, source)
    }
    var goesOn = remaining > 0
    guard goesOn else { return }
    var whole = query
    // The base gives as many rows as are wanted, and one for each that a pending change replaces.
    let needed = query.start.addingReportingOverflow(query.maximum)
    whole.limit =
      needed.overflow || needed.partialValue > .max - changed.count ? nil : needed.partialValue + changed.count
    whole.offset = 0
    try unchangedRows(whole, besides: replaced, isBesideChanged) { key, source in
      if replaced.contains(key) { return true }
      let sortKey = query.sortKey(key) { source.value(at: $0) }
      while goesOn, let next = waiting.first, query.precedes(next.sortKey, sortKey) {
        waiting.removeFirst()
        goesOn = try take(next.sortKey.key, StoredRowSource(next.row))
      }
      if goesOn { goesOn = try take(key, source) }
      return goesOn
    }
    for next in waiting where goesOn { goesOn = try take(next.sortKey.key, StoredRowSource(next.row)) }
  }

  /// The number of changed rows that a store is asked to leave out.
  static let mostLeftOut = 300

  /// Reads the stored rows of a query. A condition that may fail for a row as it is stored is not evaluated for those that a pending change replaces;
  /// with any other condition these rows are given as well.
  private func unchangedRows(
    _ query: RowQuery, besides replaced: Set<StoredValue>, _ isBesideChanged: Bool,
    _ body: (StoredValue, RowSource) throws -> Bool
  ) throws {
    guard query.condition.mayFail else {
      return try isBesideChanged ? rowsEvaluated(query, base, body) : base.rows(query, body)
    }
    if replaced.count <= Self.mostLeftOut {
      var unchanged = query
      unchanged.condition = query.condition.leavingOut(replaced)
      return try isBesideChanged ? rowsEvaluated(unchanged, base, body) : base.rows(unchanged, body)
    }
    var all = query
    all.condition = .always(true)
    all.limit = nil
    let reading: any RowReading = isBesideChanged ? self : base
    try base.rows(all) { key, source in
      if replaced.contains(key) { return true }
      guard try StoredEvaluation(EvaluatedRow(key, source), reading).holds(query.condition) else { return true }
      return try body(key, source)
    }
  }

  func entities(_ query: RowQuery, _ body: (() -> StoredValue, RowSource) throws -> Bool) throws {
    if changedKeys(query.entity).isEmpty, !query.condition.otherEntities.contains(where: pending.mayChange) {
      try base.entities(query, body)
    } else {
      try rows(query) { key, source in try body({ key }, source) }
    }
  }

  /// The entities of a type that are changed. Changes of other types are not looked through.
  func changedKeys(_ entity: EntityDescription) -> [EntityKey] { pending.keys(of: entity) }

  func count(_ query: RowQuery) throws -> Int {
    if query.condition.otherEntities.contains(where: pending.mayChange) { return try countEvaluated(query) }
    let changed = changedKeys(query.entity)
    if !changed.isEmpty, query.condition.mayFail { return try countEvaluated(query) }
    var count = try base.count(RowQuery(query.entity, where: query.condition))
    for key in changed {
      let isStored = try base.row(of: key).map { try query.holds($0, key: key.id, base) } ?? false
      let isPresent = try row(of: key).map { try query.holds($0, key: key.id, self) } ?? false
      if isStored != isPresent { count += isPresent ? 1 : -1 }
    }
    return min(max(0, count - query.start), query.maximum)
  }

  func steps(of query: RowQuery) throws -> [String] {
    let changed = changedKeys(query.entity).count
    let isBesideChanged = query.condition.otherEntities.contains(where: pending.mayChange)
    return try base.steps(of: isBesideChanged ? query.wider : query)
      + (changed > 0 ? ["\(Self.unsaved(changed)) merged with these"] : [])
      + (isBesideChanged
        ? ["what the condition asks of other rows, some of which are not saved, is evaluated in memory"] : [])
  }

  /// Returns the line for rows with pending changes in the steps of a query.
  static func unsaved(_ count: Int) -> String {
    count.of("changed row that is not saved is", "changed rows that are not saved are")
  }

  func plan(of query: RowQuery) throws -> QueryPlan {
    try base.plan(of: query.condition.otherEntities.contains(where: pending.mayChange) ? query.wider : query)
  }

  func referrers(to key: EntityKey, in entity: EntityDescription) throws -> [StoredValue] {
    let found = try base.referrers(to: key, in: entity)
    if !pending.mayChange(entity) { return found }
    let others = found.filter { pending[EntityKey(entity, $0)] == nil }
    let changed = pending.referrers(to: key, in: entity).map(\.id)
    return try others
      + Set(found + changed).subtracting(others).filter { id in
        let references = try row(of: EntityKey(entity, id)).map(entity.references) ?? []
        return references.contains { $0.target == key.entity.name && $0.key == key.id }
      }
  }

  func outbox(after version: OutboxVersion?) throws -> OutboxChanges { try base.outbox(after: version) }

  func outboxes(after known: [StoreAttachment: OutboxVersion]) throws -> [StoreAttachment: OutboxChanges] {
    try (base as? any OutboxesReading)?.outboxes(after: known) ?? [:]
  }
}

extension StoredCondition {
  /// The condition for other rows than those with some keys. These are left out first, since it may fail for one of them as it is stored.
  func leavingOut(_ keys: Set<StoredValue>) -> StoredCondition {
    .all([.not(.isIn(.key, keys))] + conjuncts.filter { $0 != .always(true) })
  }
}
