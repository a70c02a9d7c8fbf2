import Concord

/// Makes an `EntityStore` take part: it takes pushed states of the entities that it has, and pushes what changes in it.
final class StoreEnvironment: ConsistentEnvironment, Sendable {
  /// What both sides know.
  private typealias Entity = Identifiable & ConsistentObject

  /// What the store has in place of what it discarded.
  private struct Kept {
    let object: any ConsistentObject
    let stamp: Stamp
  }

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
      let stamps = changeSet.changes.compactMap { change -> (any ConsistentObject, Stamp)? in
        guard let stamp = change.givenStamp, let object = change.new as? any ConsistentObject else { return nil }
        return (object, stamp)
      }
      // What went with something that was pushed as removed, is pushed as well: others may not know that it has to.
      let removed = changeSet.changes.filter(\.wasRemoved).compactMap { $0.old as? any ConsistentObject }
      // What came from here, everybody has, in general.
      if let origin = changeSet.origin, let overtaken = order.withLock({ $0.overtaken(by: origin) }) {
        objects = objects.filter(overtaken).filter { isCurrent($0) }
      }
      guard !objects.isEmpty || !removed.isEmpty else { return }
      push(self, Push(objects, removing: removed, stamps: stamps, context: changeSet.context))
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
    var updated = push.updates.compactMap { update in (update.object as? any Entity).map { ($0, update.stamp) } }
    let removed = index.removed.compactMap { $0 as? any Entity }
    guard let store else { return [] }
    // An owner may push what it was told that a layer shows. That is not to become what is below the layer.
    if store.hasLayers { updated.removeAll { entity, _ in isShown(entity, in: store) } }
    if updated.isEmpty, removed.isEmpty { return [] }
    let mark = order.withLock { $0.noteTaken(number) }
    let kept: [Kept] = store.transaction(context: push.context, origin: ObjectIdentifier(mark)) { tx in
      let refused = updated.filter { entity, stamp in !replace(entity, in: tx, modifiedAt: stamp) }
      // Some of them came with what contains them, by the same stamp.
      let kept = refused.compactMap { entity, _ in state(insteadOf: entity, in: tx) }
      // Last, so that what needed it does so no longer.
      for entity in removed { remove(entity, from: tx) }
      return kept
    }
    // For other stores, which may have taken what this one did not.
    let objects = kept.map(\.object)
    if !kept.isEmpty, push.mayBeAnswered {
      // Newer than what it is, so that where another store has another state by the same stamp, one of them counts.
      let stamps = kept.map { ($0.object, $0.stamp.nextUp) }
      self.push(self, Push(objects, stamps: stamps, context: push.context, answering: push))
    }
    return objects
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

  private func isShown<E: Entity>(_ entity: E, in store: EntityStore) -> Bool {
    store.value(E.self, id: identity(of: entity)).map { SameState.isCertain(of: entity, $0) } ?? false
  }

  /// The store's state of an entity, if that is another one.
  private func state<E: Entity>(insteadOf entity: E, in store: EntityStore) -> Kept? {
    guard let (value, stamp) = store.stampedValue(E.self, id: identity(of: entity)) else { return nil }
    return SameState.isCertain(of: entity, value) ? nil : Kept(object: value, stamp: stamp)
  }
}
