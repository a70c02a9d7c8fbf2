import Concord
import ConcordModel
import Foundation

extension PersistentStoreCoordinator {
  /// Removes from its store what a rule does not keep of a type, and gives the space back.
  ///
  /// - Returns: the number of removed entities, and those that are left because a context has not saved a change of them.
  func purge<T: PersistentEntity>(
    _ type: T.Type, keeping retention: Retention<T>
  ) throws -> (removed: Int, unsaved: Set<EntityKey>) {
    let entity = try model.entity(type)
    let refused = try evaluated(retention, entity)
    // Before the store is locked, since this waits for those who use the contexts.
    let guards = guards.all
    let pending = unsavedKeys(guards)
    let uses = lastUses(of: entity)
    let isFollowed = self.uses.isFollowing(entity)
    var observed: Set<StoredValue> = []
    let (removed, left) = try write(model.connected(with: [entity]), outboxes: .all, isPurge: true) { writing in
      let purge = Purge(
        retention: retention, entity: entity, model: model, uses: uses,
        pending: try pending.union(forwardedKeys(guards, writing)),
        isObserved: { key in guards.contains { $0.isObserved(key) } },
        noteObserved: isFollowed ? { observed.insert($0) } : nil, refused: refused)
      return try entity.evaluating { try purge.run(writing) }
    }
    // What is shown is used, at least until now.
    self.uses.note(observed, of: entity)
    // They are gone, whatever comes of the rest, which a later purge does then: a full disk may have no room to rewrite a file.
    try? forgetUses(uses.keys, ofAbsent: entity)
    if !removed.isEmpty { try? store(of: entity)?.rows.giveBackSpace() }
    return (removed.count, left.intersection(pending))
  }

  /// Returns the entities that contexts have changed and not saved, and those that these contain.
  func unsavedKeys() -> Set<EntityKey> { unsavedKeys(guards.all) }

  private func unsavedKeys(_ guards: [any RetentionGuard]) -> Set<EntityKey> {
    guards.reduce(into: []) { $0.formUnion($1.pendingKeys()) }
  }

  /// Returns the entities of forwarded actions that are not sent.
  private func forwardedKeys(_ guards: [any RetentionGuard], _ writing: any RowWriting) throws -> Set<EntityKey> {
    // A store that is attached alone has the session itself.
    let outboxes =
      (writing as? any OutboxesWriting)?.outboxes ?? attachments.mapValues { _ in writing }
    let known = try guards.compactMap { try $0.forwardedKeys(outboxes) }
    if !known.isEmpty { return known.reduce(into: []) { $0.formUnion($1) } }
    // This process forwards nothing, and does not know the types of actions, but the entity that each keeps its order with.
    var keys: Set<EntityKey> = []
    for row in try outboxes.values.flatMap({ try $0.outbox(after: nil).rows }) where !row.state.isFinished {
      if let entity = model.entity(named: row.entity) { keys.insert(EntityKey(entity, row.id)) }
    }
    return keys
  }

  /// Returns what a rule does not keep that no store can evaluate.
  ///
  /// A condition may call the user's code, which must not run within a transaction that writes.
  private func evaluated<T: PersistentEntity>(
    _ retention: Retention<T>, _ entity: EntityDescription
  ) throws -> [StoredValue: Stamp]? {
    guard case .matching(let predicate) = retention.rule else { return nil }
    if FetchPlan(FetchDescriptor(predicate: predicate), entity, model).isExact { return nil }
    let found: [(value: T, stamp: Stamp)] = try read(Array(model.contained(in: entity))) { reading in
      let loader = EntityLoader(reading, model: model)
      return try loader.fetch(T.self, RowQuery(entity)).map { value in
        let key = EntityKey(entity, try T.storedKey(of: value.id))
        return (value, try reading.withRow(of: key) { $0.stamp } ?? -.infinity)
      }
    }
    var refused: [StoredValue: Stamp] = [:]
    let checked = CheckedPredicate(predicate)
    for (value, stamp) in found where try !checked.holds(value) {
      refused[try T.storedKey(of: value.id)] = stamp
    }
    return refused
  }
}
