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

  init(_ coordinator: PersistentStoreCoordinator, of purging: PersistentStoreCoordinator) {
    self.coordinator = coordinator
    guards = coordinator.guards.all
    for entity in purging.model.entities {
      guard let place = purging.store(of: entity)?.place, let their = coordinator.model.entity(named: entity.name),
        coordinator.store(of: their)?.place == place
      else { continue }
      (theirs[entity], ours[their]) = (their, entity)
    }
    let places = purging.attachments.mapValues(\.place)
    for (attachment, store) in coordinator.attachments {
      shared[attachment] = places.first { $0.value == store.place }?.key
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
