import Concord

/// The environment of an `EntityStore`, which receives pushed states of its entities, and pushes their changes.
final class StoreEnvironment: ConsistentEnvironment, Sendable {
  /// A type that both the store and the manager know.
  private typealias Entity = Identifiable & ConsistentObject

  /// The store's state of an entity whose pushed state it discarded.
  private struct Kept {
    let object: any ConsistentObject
    let stamp: Stamp
  }

  private struct Reference: Sendable { weak var store: EntityStore? }

  private let reference: Locked<Reference>
  private let changes = Locked<Subscription?>(nil)
  private let order = Locked(StoreOrder())

  private let push: @Sendable (StoreEnvironment, Push) -> Void

  /// Creates the environment of a store.
  ///
  /// - Parameter push: a closure that receives the objects that changed in the store, other than by a push, and those
  ///   that the store keeps in place of pushed states.
  init(_ store: EntityStore, push: @escaping @Sendable (StoreEnvironment, Push) -> Void) {
    reference = Locked(Reference(store: store))
    self.push = push
    let subscription = store.observeChanges { [weak self] changeSet in
      guard let self else { return }
      var objects = changeSet.changes.compactMap { $0.new as? any ConsistentObject }
      let stamps = changeSet.changes.compactMap { change -> (any ConsistentObject, Stamp)? in
        guard let stamp = change.givenStamp, let object = change.new as? any ConsistentObject else { return nil }
        return (object, stamp)
      }
      // Entities that were removed with a pushed removal are pushed, too: owners may not know that they require the removed
      // one.
      let removed = changeSet.changes.filter(\.wasRemoved).compactMap { $0.old as? any ConsistentObject }
      // A change that came from here is known to all owners, in general.
      if let origin = changeSet.origin, let overtaken = order.withLock({ $0.overtaken(by: origin) }) {
        objects = objects.filter(overtaken).filter { isCurrent($0) }
      }
      guard !objects.isEmpty || !removed.isEmpty else { return }
      push(self, Push(objects, removing: removed, stamps: stamps, context: changeSet.context))
    }
    changes.withLock { $0 = subscription }
  }

  var store: EntityStore? { reference.withLock { $0.store } }

  /// Notes the number with which a change of some objects in the store was pushed, under the lock that gives the numbers.
  func notePushed(_ keys: [ObjectKey], number: Int) {
    order.withLock { $0.notePushed(keys, number: number) }
  }

  /// Stops observing the store.
  func end() { changes.withLock { $0.take() }?.unsubscribe() }

  /// Empty, since a store is not searched: see `current(_:)`.
  var objects: [any ConsistentObject] { [] }

  /// Does nothing, since a store receives pushes through `take(_:number:)`.
  func update(with object: any ConsistentObject) {}

  /// Applies the push with a number. Returns the store's states of the objects that it discarded.
  func take(_ push: Push, number: Int) -> [any ConsistentObject] {
    let index = push.given.index
    var updated = push.updates.compactMap { update in (update.object as? any Entity).map { ($0, update.stamp) } }
    let removed = index.removed.compactMap { $0 as? any Entity }
    guard let store else { return [] }
    // An owner may push a state that it received from a layer. It must not become the state beneath the layer. Such an echo has
    // no stamp, since layers give none.
    if store.hasLayers { updated.removeAll { entity, stamp in stamp == nil && isShown(entity, in: store) } }
    if updated.isEmpty, removed.isEmpty { return [] }
    let mark = order.withLock { $0.noteTaken(number) }
    let kept: [Kept] = store.transaction(context: push.context, origin: ObjectIdentifier(mark)) { tx in
      let refused = updated.filter { entity, stamp in !replace(entity, in: tx, modifiedAt: stamp) }
      // Some of them came with their parents, with the same stamp.
      let kept = refused.compactMap { entity, _ in state(insteadOf: entity, in: tx) }
      // Last, so that entities that required it no longer do.
      for entity in removed { remove(entity, from: tx) }
      return kept
    }
    // For other stores, which may have taken what this one discarded.
    let objects = kept.map(\.object)
    if !kept.isEmpty, push.mayBeAnswered {
      // With a newer stamp, so that where another store has another state with the same stamp, one of them counts.
      let stamps = kept.map { ($0.object, $0.stamp.nextUp) }
      self.push(self, Push(objects, stamps: stamps, context: push.context, answering: push))
    }
    return objects
  }

  /// Returns the store's states of those objects that it has.
  func current(_ objects: [any ConsistentObject]) -> [any ConsistentObject] {
    guard let store else { return [] }
    return objects.compactMap { ($0 as? any Entity).flatMap { current($0, in: store) } }
  }

  /// Whether the store has no newer state, which it will push. In doubt it has none: one push too many does no harm.
  private func isCurrent(_ object: any ConsistentObject) -> Bool {
    current([object]).contains { SameState.isPossible(of: $0, object) }
  }

  private func replace<E: Entity>(_ entity: E, in store: EntityStore, modifiedAt stamp: Stamp?) -> Bool {
    store.update(E.self, id: identity(of: entity), modifiedAt: stamp) { $0 = entity }
  }

  private func remove<E: Entity>(_ entity: E, from store: EntityStore) {
    store.remove(E.self, id: identity(of: entity))
  }

  private func current<E: Entity>(_ entity: E, in store: EntityStore) -> (any ConsistentObject)? {
    store.value(E.self, id: identity(of: entity))
  }

  private func isShown<E: Entity>(_ entity: E, in store: EntityStore) -> Bool {
    store.value(E.self, id: identity(of: entity)).map { SameState.isCertain(of: entity, $0) } ?? false
  }

  /// Returns the store's state of an entity if it differs.
  private func state<E: Entity>(insteadOf entity: E, in store: EntityStore) -> Kept? {
    guard let (value, stamp) = store.stampedValue(E.self, id: identity(of: entity)) else { return nil }
    return SameState.isCertain(of: entity, value) ? nil : Kept(object: value, stamp: stamp)
  }
}
