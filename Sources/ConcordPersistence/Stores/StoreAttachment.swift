import Concord
import ConcordModel

/// The time during which a store is attached to a coordinator. A store that is attached again has another one.
///
/// They are in the order in which stores were attached.
package struct StoreAttachment: Hashable, Comparable, Sendable {
  let number: Int

  package init(number: Int) { self.number = number }

  package static func < (a: Self, b: Self) -> Bool { a.number < b.number }
}

/// A reading that tells the outboxes of several stores apart.
package protocol OutboxesReading: RowReading {
  /// Reads the new rows in the outbox of each store that is read.
  ///
  /// - Parameter known: the version up to which each outbox was read; an outbox without one is read whole.
  func outboxes(after known: [StoreAttachment: OutboxVersion]) throws -> [StoreAttachment: OutboxChanges]
}

/// A session that writes to the outboxes of several stores.
package protocol OutboxesWriting: RowWriting {
  /// The sessions of the stores.
  var outboxes: [StoreAttachment: any RowWriting] { get }
  /// Returns the session of the store that keeps the entities of a type; `nil` if it is that of the notes, or there is none.
  func otherStore(of entity: EntityDescription) -> (any RowWriting)?
  /// Returns whether an attached store keeps the entities of a type.
  func isKept(_ entity: EntityDescription) -> Bool
}

/// Reads the only attached store, and tells which it is.
final class AttachedReading: RowReading, OutboxesReading, AggregatingReading, RankingReading {
  private let base: any RowReading
  private let attachment: StoreAttachment

  init(_ base: any RowReading, _ attachment: StoreAttachment) { (self.base, self.attachment) = (base, attachment) }

  func row(of key: EntityKey) throws -> StoredRow? { try base.row(of: key) }

  func withRow<R>(of key: EntityKey, _ body: (RowSource) throws -> R) throws -> R? {
    try base.withRow(of: key, body)
  }

  func rows(_ query: RowQuery, _ body: (StoredValue, RowSource) throws -> Bool) throws { try base.rows(query, body) }

  func entities(_ query: RowQuery, _ body: (() -> StoredValue, RowSource) throws -> Bool) throws {
    try base.entities(query, body)
  }

  func storeError(_ error: any Error, of entity: EntityDescription) -> any Error { base.storeError(error, of: entity) }

  func count(_ query: RowQuery) throws -> Int { try base.count(query) }

  func steps(of query: RowQuery) throws -> [String] { try base.steps(of: query) }

  func plan(of query: RowQuery) throws -> QueryPlan { try base.plan(of: query) }

  func aggregate(_ aggregation: RowAggregation) throws -> RowGroups? {
    try (base as? any AggregatingReading)?.aggregate(aggregation)
  }

  func explain(_ aggregation: RowAggregation) throws -> (steps: [String], plan: QueryPlan)? {
    try (base as? any AggregatingReading)?.explain(aggregation)
  }

  func mayHaveIndexes(_ entity: EntityDescription) throws -> Bool {
    try (base as? any AggregatingReading)?.mayHaveIndexes(entity) ?? false
  }

  func best(_ query: RankedQuery) throws -> [RankedHit]? { try (base as? any RankingReading)?.best(query) }

  func explainBest(_ query: RankedQuery) throws -> (steps: [String], plan: QueryPlan)? {
    try (base as? any RankingReading)?.explainBest(query)
  }

  func referrers(to key: EntityKey, in entity: EntityDescription) throws -> [StoredValue] {
    try base.referrers(to: key, in: entity)
  }

  func willReadOnce() { base.willReadOnce() }

  func mayReadAgain() { base.mayReadAgain() }

  func unannouncedKeys() throws -> Set<EntityKey> { try base.unannouncedKeys() }

  func unannouncedKeys(preparing keys: [EntityKey]) throws -> Set<EntityKey> {
    try base.unannouncedKeys(preparing: keys)
  }

  func deletion(of key: EntityKey) throws -> Stamp? { try base.deletion(of: key) }

  func deletions(of keys: [EntityKey]) throws -> [EntityKey: Stamp] { try base.deletions(of: keys) }

  func prepare(_ keys: [EntityKey]) throws { try base.prepare(keys) }

  func note(_ name: NoteName) throws -> String? { try base.note(name) }

  func notes(in space: String, after name: String?, _ body: (String, String) throws -> Bool) throws {
    try base.notes(in: space, after: name, body)
  }

  func position() throws -> StorePosition { try base.position() }

  func position(reading entities: Set<EntityDescription>) throws -> StorePosition {
    try base.position(reading: entities)
  }

  func changes(since position: StorePosition, of entities: Set<EntityDescription>?, limit: Int) throws -> RowChanges? {
    try base.changes(since: position, of: entities, limit: limit)
  }

  func changed(_ keys: [EntityKey], since position: StorePosition) throws -> Set<EntityKey>? {
    try base.changed(keys, since: position)
  }

  func outbox(after version: OutboxVersion?) throws -> OutboxChanges { try base.outbox(after: version) }

  func outboxes(after known: [StoreAttachment: OutboxVersion]) throws -> [StoreAttachment: OutboxChanges] {
    [attachment: try base.outbox(after: known[attachment])]
  }
}
