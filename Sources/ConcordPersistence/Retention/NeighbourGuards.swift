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
    for (attachment, store) in coordinator.attachments {
      shared[attachment] = own.first { $0.value.place == store.place }?.key
      sameObjects[attachment] = own.first { $0.value.rows === store.rows }?.key
    }
  }

  /// The entities that its contexts have changed and not saved, and those that forwarded actions name which others of its stores keep. It
  /// waits for nobody who uses its contexts, since of two who purge each may wait for the other.
  func neededKeys() -> Set<EntityKey> {
    var keys = guards.reduce(into: Set()) { $0.formUnion($1.presentKeys()) }
    for (attachment, store) in coordinator.attachments where shared[attachment] == nil {
      // Those that it knows are among the others, too, if this one cannot be read.
      let read = try? store.rows.read { try coordinator.forwardedKeys(guards, [attachment: $0]) }
      if let read { keys.formUnion(read) }
    }
    return own(keys)
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
  /// - Parameter sessions: the sessions of who purges. A store that both have attached as one object is read through its session, since it is
  ///   locked.
  /// - Complexity: a lookup for each of them and each such type.
  func contained(
    among keys: Set<EntityKey>, _ sessions: [StoreAttachment: any RowReading]
  ) throws -> Set<EntityKey> {
    guard let entity = keys.first?.entity, let their = theirs[entity] else { return [] }
    var found: Set<EntityKey> = []
    for owner in coordinator.model.entities
    where ours[owner] != owner && owner.targets.contains(where: { $0 == their.type }) {
      guard let store = coordinator.store(of: owner) else { continue }
      try read(store, sessions) { reading in
        for key in keys where !found.contains(key) {
          if try !reading.referrers(to: EntityKey(their, key.id), in: owner).isEmpty { found.insert(key) }
        }
      }
    }
    return found
  }

  private func read(
    _ store: PersistentStore, _ sessions: [StoreAttachment: any RowReading], _ body: (any RowReading) throws -> Void
  ) throws {
    let attachment = coordinator.attachments.first { $0.value.rows === store.rows }?.key
    if let attachment, let own = sameObjects[attachment], let session = sessions[own] { return try body(session) }
    try store.rows.read(body)
  }

  /// The entities that forwarded actions name in the stores that both have.
  ///
  /// - Parameter outboxes: the sessions of who purges.
  func forwardedKeys(_ outboxes: [StoreAttachment: any RowReading]) throws -> Set<EntityKey> {
    own(try coordinator.forwardedKeys(guards, shared.compactMapValues { outboxes[$0] }))
  }

  private func own(_ keys: Set<EntityKey>) -> Set<EntityKey> {
    Set(keys.compactMap { key in ours[key.entity].map { EntityKey($0, key.id) } })
  }
}

extension PersistentStoreCoordinator {
  /// The guards of others in this process who have the same rows.
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
