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
    let uses = lastUses(of: entity)
    let isFollowed = self.uses.isFollowing(entity)
    /// The entities that were found to be observed when they were removed.
    var late: Set<EntityKey> = []
    var attempts = 0
    while attempts < Self.attempts {
      // Before the store is locked, since this waits for those who use the contexts.
      let (guards, neighbours) = (guards.all, neighbourGuards)
      let pending = unsavedKeys(guards, neighbours)
      var observed: Set<StoredValue> = []
      var found: Set<EntityKey> = []
      do {
        let (removed, left) = try write(model.connected(with: [entity]), outboxes: .all, isPurge: true) { writing in
          let sessions = sessions(writing)
          let purge = Purge(
            retention: retention, entity: entity, model: model, uses: uses,
            pending: try pending.union(forwardedKeys(guards, neighbours, sessions)),
            containedElsewhere: { keys in
              try neighbours.reduce(into: []) { $0.formUnion(try $1.contained(among: keys, sessions)) }
            },
            isObserved: { key in
              late.contains(key) || guards.contains { $0.isObserved(key) } || neighbours.contains { $0.isObserved(key) }
            },
            noteObserved: isFollowed ? { observed.insert($0) } : nil, refused: refused)
          let result = try entity.evaluating { try purge.run(writing) }
          // Whoever was shown one of them meanwhile has read it before this commit.
          found = result.removed.filter(purge.isObserved)
          if !found.isEmpty { throw ObservedMeanwhile() }
          return result
        }
        // What is shown is used, at least until now.
        self.uses.note(observed, of: entity)
        // They are gone, whatever comes of the rest, which a later purge does then: a full disk may have no room to rewrite a file.
        try? forgetUses(uses.keys, ofAbsent: entity)
        if !removed.isEmpty { try? store(of: entity)?.rows.giveBackSpace() }
        return (removed.count, left.intersection(pending))
      } catch let taken as NeighbourIsTaken { taken.wait() } catch  where !found.isEmpty {
        attempts += 1
        late.formUnion(found)
      }
    }
    throw StoreError.storeFailed(
      store: store(of: entity)?.rows.name ?? "",
      reason: "what a purge of '\(entity.name)' is about to remove is observed again and again")
  }

  /// The number of times that a purge begins again at most because something that it was about to remove is observed by now.
  private static var attempts: Int { 8 }

  private struct ObservedMeanwhile: Error {}

  /// Returns the entities that contexts have changed and not saved, and those that these contain.
  func unsavedKeys() -> Set<EntityKey> { unsavedKeys(guards.all, neighbourGuards) }

  private func unsavedKeys(_ guards: [any RetentionGuard], _ neighbours: [NeighbourGuards]) -> Set<EntityKey> {
    var keys = guards.reduce(into: Set()) { $0.formUnion($1.pendingKeys()) }
    for neighbour in neighbours { keys.formUnion(neighbour.neededKeys()) }
    return keys
  }

  /// Returns the entities of forwarded actions that are not sent.
  private func forwardedKeys(
    _ guards: [any RetentionGuard], _ neighbours: [NeighbourGuards], _ sessions: [StoreAttachment: any RowReading]
  ) throws -> Set<EntityKey> {
    var keys = try forwardedKeys(guards, sessions)
    for neighbour in neighbours { keys.formUnion(try neighbour.forwardedKeys(sessions)) }
    return keys
  }

  /// Returns the sessions of all stores in a transaction that writes to all.
  private func sessions(_ writing: any RowWriting) -> [StoreAttachment: any RowReading] {
    // A store that is attached alone has the session itself.
    (writing as? any OutboxesWriting)?.outboxes.mapValues { $0 } ?? attachments.mapValues { _ in writing }
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
