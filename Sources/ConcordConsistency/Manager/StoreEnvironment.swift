import Concord

/// Makes an `EntityStore` take part: it takes pushed states of the entities that it has, and pushes what changes in it.
final class StoreEnvironment: ConsistentEnvironment, Sendable {
  /// What both sides know.
  private typealias Entity = Identifiable & ConsistentObject

  private struct Reference: Sendable { weak var store: EntityStore? }

  private let reference: Locked<Reference>
  private let changes = Locked<Subscription?>(nil)
  private let order = Locked(StoreOrder())

  private let push: @Sendable (StoreEnvironment, Push) -> Void

  /// - Parameter push: called with the objects that changed in the store, other than by what was pushed to it, and with
  ///   those that it keeps in place of what was pushed to it.
  init(_ store: EntityStore, push: @escaping @Sendable (StoreEnvironment, Push) -> Void) {
    reference = Locked(Reference(store: store))
    self.push = push
    let subscription = store.observeChanges { [weak self] changeSet in
      guard let self else { return }
      var objects = changeSet.changes.compactMap { $0.new as? any ConsistentObject }
      // What came from here, everybody has, in general.
      if let origin = changeSet.origin, let overtaken = order.withLock({ $0.overtaken(by: origin) }) {
        objects = objects.filter(overtaken).filter { isCurrent($0) }
      }
      if !objects.isEmpty { push(self, Push(objects, context: changeSet.context)) }
    }
    changes.withLock { $0 = subscription }
  }

  var store: EntityStore? { reference.withLock { $0.store } }

  /// Notes that what changed in the store was pushed with this number, under the lock that gives the numbers.
  func notePushed(_ push: Push, number: Int) {
    let keys = push.given.index.updated.map { ObjectKey($0) }
    order.withLock { $0.notePushed(keys, number: number) }
  }

  /// Follows the store no longer.
  func end() { changes.withLock { $0.take() }?.unsubscribe() }

  /// A store is not gone through: see `current(_:)`.
  var objects: [any ConsistentObject] { [] }

  /// A store is not told so: see `take(_:number:)`.
  func update(with object: any ConsistentObject) {}

  /// Takes the push with this number. Gives the store's states of what it discarded.
  func take(_ push: Push, number: Int) -> [any ConsistentObject] {
    let index = push.given.index
    let updated = index.updated.compactMap { $0 as? any Entity }
    let removed = index.removed.compactMap { $0 as? any Entity }
    guard let store, !updated.isEmpty || !removed.isEmpty else { return [] }
    let mark = order.withLock { $0.noteTaken(number) }
    let kept = store.transaction(context: push.context, origin: ObjectIdentifier(mark)) { tx in
      let refused = updated.filter { !replace($0, in: tx, modifiedAt: push.stamp) }
      // Some of them came with what contains them, by the same stamp.
      let kept = refused.compactMap { state(insteadOf: $0, in: tx) }
      // Last, so that what needed it does so no longer.
      for entity in removed { remove(entity, from: tx) }
      return kept
    }
    // For other stores, which may have taken what this one did not.
    if !kept.isEmpty, !push.isAnswer { self.push(self, Push(kept, context: push.context, isAnswer: true)) }
    return kept
  }

  /// The store's state of those among the objects that it has.
  func current(_ objects: [any ConsistentObject]) -> [any ConsistentObject] {
    guard let store else { return [] }
    return objects.compactMap { ($0 as? any Entity).flatMap { current($0, in: store) } }
  }

  /// Whether the store has nothing newer, of which it will tell. In doubt it has not: one push too many does no harm.
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

  /// The store's state of an entity, if that is another one.
  private func state<E: Entity>(insteadOf entity: E, in store: EntityStore) -> (any ConsistentObject)? {
    store.value(E.self, id: identity(of: entity)).flatMap { SameState.isCertain(of: entity, $0) ? nil : $0 }
  }
}
