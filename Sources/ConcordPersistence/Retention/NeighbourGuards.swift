import Concord
import ConcordModel

/// The guards of another coordinator of the process whose stores have rows that are purged, such as another container's with the same file.
///
/// Its model may be another one: entities are the same by the names of their tables and their stored ids.
struct NeighbourGuards {
  private let coordinator: PersistentStoreCoordinator
  private let guards: [any RetentionGuard]
  /// Its description of each type whose rows both have, by that of who purges, and the other way round.
  private var theirs: [EntityDescription: EntityDescription] = [:]
  private var ours: [EntityDescription: EntityDescription] = [:]
  /// The attachments of who purges by its own, where both have the same rows.
  private var shared: [StoreAttachment: StoreAttachment] = [:]
  /// The attachments of who purges by its own, where both have attached the same object.
  private var sameObjects: [StoreAttachment: StoreAttachment] = [:]
  /// The stores of who purges.
  private let own: [StoreAttachment: PersistentStore]

  init(_ coordinator: PersistentStoreCoordinator, of purging: PersistentStoreCoordinator) {
    self.coordinator = coordinator
    guards = coordinator.guards.all
    for entity in purging.model.entities {
      guard let place = purging.store(of: entity)?.place, let their = coordinator.model.entity(named: entity.name),
        coordinator.store(of: their)?.place == place
      else { continue }
      (theirs[entity], ours[their]) = (their, entity)
    }
    let own = purging.attachments
    self.own = own
    for (attachment, store) in coordinator.attachments {
      shared[attachment] = own.first { $0.value.place == store.place }?.key
      sameObjects[attachment] = own.first { $0.value.rows === store.rows }?.key
    }
  }

  /// The entities that its contexts have changed and not saved, and those that forwarded actions name which its other stores keep. It
  /// waits for nobody who uses its contexts, since of two who purge each may wait for the other.
  func neededKeys() -> Set<EntityKey> {
    var keys = guards.reduce(into: Set()) { $0.formUnion($1.presentKeys()) }
    for (attachment, store) in coordinator.attachments where shared[attachment] == nil {
      // Those that it knows are among the others, too, if this one cannot be read.
      let read = try? store.rows.read { try coordinator.forwardedKeys(guards, [attachment: $0]) }
      if let read { keys.formUnion(read) }
    }
    return asOwn(keys)
  }

  /// Whether one of its views shows an entity.
  func isObserved(_ key: EntityKey) -> Bool {
    guard let entity = theirs[key.entity] else { return false }
    let key = EntityKey(entity, key.id)
    return guards.contains { $0.isObserved(key) }
  }

  /// Returns the entities among some of one type that something contains of which who purges knows nothing: of a type that only this model has,
  /// or in another file. Who purges looks into what both have.
  ///
  /// - Parameter sessions: the sessions of who purges. What is in the same rows is read through them where a store can do so, so that what
  ///   other processes write meanwhile meets it.
  /// - Throws: ``NeighbourIsTaken`` if somebody has another store of its.
  /// - Complexity: a lookup for each of them and each such type.
  func contained(
    among keys: Set<EntityKey>, _ sessions: [StoreAttachment: any RowReading]
  ) throws -> Set<EntityKey> {
    guard let entity = keys.first?.entity, let their = theirs[entity] else { return [] }
    var found: Set<EntityKey> = []
    for owner in coordinator.model.entities
    where ours[owner] != owner && owner.targets.contains(where: { $0 == their.type }) {
      guard let store = coordinator.store(of: owner) else { continue }
      /// Returns `false` if that cannot look.
      func look(_ referrers: (EntityKey) throws -> [StoredValue]?) throws -> Bool {
        for key in keys where !found.contains(key) {
          guard let referrers = try referrers(EntityKey(their, key.id)) else { return false }
          if !referrers.isEmpty { found.insert(key) }
        }
        return true
      }
      if try look({ try referrers(to: $0, in: owner, store, sessions) }) { continue }
      try read(store, sessions) { reading in _ = try look { try reading.referrers(to: $0, in: owner) } }
    }
    return found
  }

  /// Looks within the transaction of who purges; `nil` if that does not see the rows.
  private func referrers(
    to key: EntityKey, in owner: EntityDescription, _ store: PersistentStore,
    _ sessions: [StoreAttachment: any RowReading]
  ) throws -> [StoredValue]? {
    guard let rows = store.rows as? any PlacedStore,
      let attachment = own.first(where: { $0.value.place == store.place })?.key,
      let purging = own[attachment], let session = sessions[attachment]
    else { return nil }
    return try rows.referrers(to: key, in: owner, within: session, of: purging.rows)
  }

  private func read(
    _ store: PersistentStore, _ sessions: [StoreAttachment: any RowReading], _ body: (any RowReading) throws -> Void
  ) throws {
    let attachment = coordinator.attachments.first { $0.value.rows === store.rows }?.key
    if let attachment, let own = sameObjects[attachment], let session = sessions[own] { return try body(session) }
    guard let rows = store.rows as? any BrieflyRead else { return try store.rows.read(body) }
    do { try rows.readSoon(body) } catch is StoreIsTaken { throw NeighbourIsTaken(rows: rows) }
  }

  /// The entities that forwarded actions name in the stores that both have.
  ///
  /// - Parameter outboxes: the sessions of who purges.
  func forwardedKeys(_ outboxes: [StoreAttachment: any RowReading]) throws -> Set<EntityKey> {
    asOwn(try coordinator.forwardedKeys(guards, shared.compactMapValues { outboxes[$0] }))
  }

  private func asOwn(_ keys: Set<EntityKey>) -> Set<EntityKey> {
    Set(keys.compactMap { key in ours[key.entity].map { EntityKey($0, key.id) } })
  }
}

/// Somebody has a store of a neighbour that a purge looks into. Who has it may wait for what the purge has, which so lets go of all before it waits.
struct NeighbourIsTaken: Error {
  let rows: any RowStore

  /// Waits until the store can be read. Not within a transaction.
  func wait() {
    // One that is detached meanwhile needs nothing any longer.
    try? rows.read { _ in }
  }
}

extension PersistentStoreCoordinator {
  /// The guards of other containers in this process that have the same rows.
  var neighbourGuards: [NeighbourGuards] {
    StorePlaces.shared.neighbours(of: self).map { NeighbourGuards($0, of: self) }
  }

  /// Returns the entities of forwarded actions that are not sent.
  func forwardedKeys(
    _ guards: [any RetentionGuard], _ outboxes: [StoreAttachment: any RowReading]
  ) throws -> Set<EntityKey> {
    let known = try guards.compactMap { try $0.forwardedKeys(outboxes) }
    if !known.isEmpty { return known.reduce(into: []) { $0.formUnion($1) } }
    // Nobody here forwards, so that the types of actions are not known, but the entity that each keeps its order with.
    var keys: Set<EntityKey> = []
    for row in try outboxes.values.flatMap({ try $0.outbox(after: nil).rows }) where !row.state.isFinished {
      if let entity = model.entity(named: row.entity) { keys.insert(EntityKey(entity, row.id)) }
    }
    return keys
  }
}
