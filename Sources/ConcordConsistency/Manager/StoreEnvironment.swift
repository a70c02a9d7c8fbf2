import Concord

/// Makes an `EntityStore` take part: it takes pushed states of the entities that it has, and pushes what changes in it.
// Unchecked because of the store, which is only set in `init` and by its release, and of `changes`, set once.
final class StoreEnvironment: ConsistentEnvironment, @unchecked Sendable {
  private(set) weak var store: EntityStore?
  private var changes: Subscription?
  private let order = Locked(StoreOrder())

  /// - Parameter push: called with the objects that changed in the store, other than by what was pushed to it.
  init(_ store: EntityStore, push: @escaping @Sendable (StoreEnvironment, [any ConsistentObject]) -> Void) {
    self.store = store
    changes = store.observeChanges { [weak self] changeSet in
      guard let self else { return }
      var objects = changeSet.changes.compactMap { $0.new as? any ConsistentObject }
      // What came from here, everybody has, in general.
      if let origin = changeSet.origin, let overtaken = order.withLock({ $0.overtaken(by: origin) }) {
        objects.removeAll { !overtaken(ObjectKey($0)) }
      }
      if !objects.isEmpty { push(self, objects) }
    }
  }

  /// Notes that what changed in the store was pushed with this number, under the lock that gives the numbers.
  func notePushed(_ push: Push, number: Int) {
    let keys = push.index.winners.map { ObjectKey($0) }
    order.withLock { $0.notePushed(keys, number: number) }
  }

  /// Follows the store no longer.
  func end() { changes?.unsubscribe() }

  /// A store is not gone through: see `current(_:)`.
  var objects: [any ConsistentObject] { [] }

  func update(with object: any ConsistentObject) {
    take(Push([object]), number: .max)
  }

  /// Takes the push with this number.
  func take(_ push: Push, number: Int) {
    guard let store else { return }
    let entities = push.index.winners.compactMap { entity($0) }
    if entities.isEmpty { return }
    order.withLock { $0.noteTaken(push, number: number) }
    store.transaction(context: nil, origin: ObjectIdentifier(push)) { tx in
      for entity in entities { replace(entity, in: tx) }
    }
  }

  /// The store's state of those among the objects that it has.
  func current(_ objects: [any ConsistentObject]) -> [any ConsistentObject] {
    guard let store else { return [] }
    return objects.compactMap { object in
      entity(object).flatMap { find($0, in: store) as? any ConsistentObject }
    }
  }

  /// The object as something that a store may have.
  private func entity(_ object: any ConsistentObject) -> (any Identifiable & Sendable)? {
    // `Sendable` leaves no trace at run time, so a cast cannot ask for it. A type that is not `Sendable` is never found
    // in a store, which takes no other.
    // (Coerced, or the value in the existential would be cast.)
    (object as? any Identifiable).map { unsafeBitCast($0 as any Identifiable, to: (any Identifiable & Sendable).self) }
  }

  private func replace<Entity: Identifiable & Sendable>(_ entity: Entity, in store: EntityStore) {
    store.update(Entity.self, id: entity.id) { $0 = entity }
  }

  private func find<Entity: Identifiable & Sendable>(_ entity: Entity, in store: EntityStore) -> Any? {
    store.find(Entity.self, id: entity.id)?.value
  }
}
