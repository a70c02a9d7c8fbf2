public import Concord
public import Dispatch
import Foundation

/// Keeps the objects of all registered owners in step: what one pushes, the others merge into what they have.
///
/// ```swift
/// ConsistencyManager.shared.register(self)              // weakly; no need to unregister
/// ConsistencyManager.shared.pushUpdatedObject(user)     // every owner shows the new user
/// ConsistencyManager.shared.pushRemovedObject(user)     // no owner shows it any longer
/// let current = ConsistencyManager.shared.pullUpdatedObject(for: video)
/// ```
///
/// All calls may come from any thread, also from within ``ConsistentEnvironment/update(with:)``. An environment gets
/// pushes in the order in which they were made, and is called by one thread at a time.
public final class ConsistencyManager: Sendable {
  /// The manager for an app that needs only one.
  public static let shared = ConsistencyManager()

  /// Called with what keeps a merge from being complete, on the thread that merges. Without a handler, each kind of
  /// problem is written to standard error once.
  public static var onProblem: (@Sendable (ConsistencyProblem) -> Void)? {
    get { ProblemReporter.shared.handler }
    set { ProblemReporter.shared.handler = newValue }
  }

  private struct State {
    var registrations = Registrations()
    /// Held strongly, because nobody else does.
    var stores: [StoreEnvironment] = []
    /// The number of pushes so far.
    var pushes = 0
  }

  private let state = Locked(State())

  /// Creates a manager without owners.
  public init() {}

  // MARK: Registering

  /// Registers an owner, weakly, to be called where this call is made: on the actor that the caller is isolated to (the
  /// main actor, for a view controller), or, if there is none, on the thread that pushes.
  ///
  /// Registering again calls it at the new place from now on, in the order of the pushes. Takes constant time.
  public func register(
    _ environment: any ConsistentEnvironment & Sendable, isolation: isolated (any Actor)? = #isolation
  ) {
    add(environment, place: isolation.map { .actor($0) } ?? .pushingThread)
  }

  /// Registers an owner that belongs to an actor and is not `Sendable`, weakly, to be called on that actor, which must be
  /// the one that the caller is isolated to.
  ///
  /// ```swift
  /// actor Library {
  ///   let shelf = Shelf()
  ///   func open() { manager.register(shelf, isolatedTo: self) }
  /// }
  /// ```
  public func register(_ environment: any ConsistentEnvironment, isolatedTo actor: isolated any Actor) {
    add(environment, place: .actor(actor))
  }

  /// Registers an owner, weakly, to be called on `queue`.
  public func register(_ environment: any ConsistentEnvironment & Sendable, on queue: DispatchQueue) {
    add(environment, place: .queue(queue))
  }

  /// Registers an owner, weakly, to be called on `actor`, such as `MainActor.shared`.
  public func register(_ environment: any ConsistentEnvironment & Sendable, on actor: any Actor) {
    add(environment, place: .actor(actor))
  }

  /// Makes a store, which is held weakly, and the owners follow each other: a push updates those entities of the store
  /// that are among the pushed objects (it never stores new ones), and a transaction in the store pushes the entities
  /// that it stored, changed or removed, as far as they are objects. What a store lets go, because nobody there needs it any
  /// longer, stays with the owners. Pulling prefers what the store has.
  ///
  /// Stores are asked first: what one discards as stale, no owner takes, and who has it is told of the store's state.
  /// A push within a transaction is a part of it to the store; if it throws, owners keep what they were told.
  ///
  /// What the store's optimistic layers show is pushed like any other change, and so is its end. What is pushed to the store goes
  /// under the layers: what the owners then show is what was pushed, until the layers show something else again. Of two stores only
  /// one should have layers on the same entities, since each takes what the other shows for what is to be below its own.
  public func register(_ store: EntityStore) {
    let environment = StoreEnvironment(store) { [weak self] environment, push in
      self?.push(push, except: environment, from: nil)
    }
    let registration = Registration(environment, place: .pushingThread)
    // Released after the lock.
    let gone = state.withLock { state in
      let gone = state.stores.filter { $0.store === store || $0.store == nil }
      for environment in gone { state.registrations.remove(ObjectIdentifier(environment)) }
      state.stores.removeAll { environment in gone.contains { $0 === environment } }
      state.stores.append(environment)
      _ = state.registrations.insert(registration)
      return gone
    }
    for environment in gone { environment.end() }
  }

  private func add(_ environment: any ConsistentEnvironment, place: Place) {
    place.prepare()
    let registration = Registration(environment, place: place)
    let toCheck = state.withLock { state -> [Registration] in
      if let known = state.registrations[registration.key], known.move(environment, to: place) { return [] }
      return state.registrations.insert(registration)
    }
    for known in toCheck { known.check { [weak self] in self?.forget(known) } }
  }

  /// Ends the registration of an owner: nothing that is pushed from now on, or waits, is told to it. One push that another
  /// thread is just looking at for it may still be. An owner that is released need not do this.
  public func unregister(_ environment: AnyObject) {
    state.withLock { $0.registrations[ObjectIdentifier(environment)] }.map(forget)
  }

  /// Ends the registration of a store: it takes no pushes any more, and nobody is told of what changes in it. What another
  /// thread is just telling of either may still be.
  public func unregister(_ store: EntityStore) {
    let ended = state.withLock { state in
      let ended = state.stores.filter { $0.store === store }
      for environment in ended { state.registrations.remove(ObjectIdentifier(environment)) }
      state.stores.removeAll { $0.store === store }
      return ended
    }
    for environment in ended { environment.end() }
  }

  /// Tells an owner nothing until ``resume(_:isolation:)``: a screen that is not shown, for example.
  ///
  /// What is pushed meanwhile is kept, of each object the last state. One push that another thread is just telling it of may
  /// still come. Its own pushes reach the others as before, and it can be pulled from.
  public func pause(_ environment: AnyObject) {
    state.withLock { $0.registrations[ObjectIdentifier(environment)] }?.pause()
  }

  /// Tells an owner again. What it missed comes at once, as one call of ``ConsistentEnvironment/update(with:)``; changes that
  /// cancelled each other out tell nothing. An object that was removed meanwhile stays removed, also if a later push brought
  /// it again. Where the call is made, and whether this waits for it, is as with a push.
  public func resume(_ environment: AnyObject, isolation: isolated (any Actor)? = #isolation) {
    guard let registration = state.withLock({ $0.registrations[ObjectIdentifier(environment)] }) else { return }
    deliver(Delivery(registration: registration, number: registration.resume()), from: isolation)
  }

  private func forget(_ registration: Registration) {
    registration.end()
    state.withLock { $0.registrations.remove(registration) }
  }

  // MARK: Pushing

  /// Gives the new state of an object, and of all it contains, to every owner with objects that this changes.
  ///
  /// Owners that are called on this thread or this actor have it when the call returns, after waiting, for at most a
  /// second, for another thread that is just calling them. From within `update(with:)` there is no waiting. Where this
  /// thread does not wait, or another one is just writing to a registered store, that other thread goes on with the push.
  /// Owners elsewhere get it soon.
  ///
  /// Who owns nothing of it, or has it all in that state, is not called, so that owners which push what they have when it
  /// changes come to an end. An owner that has not yet taken what it was told before is told in any case.
  ///
  /// - Parameters:
  ///   - object: the new state.
  ///   - stamp: how fresh it is, for stores that have it. What one of them discards as stale, no owner takes.
  ///   - context: who pushes: told to those who follow the changes of stores, and to owners (``context``).
  public func pushUpdatedObject(
    _ object: any ConsistentObject, modifiedAt stamp: Stamp? = nil, context: TransactionContext? = nil,
    isolation: isolated (any Actor)? = #isolation
  ) {
    push(Push([object], modifiedAt: stamp, context: context), except: nil, from: isolation)
  }

  /// Gives the new state of several objects to every owner with objects that this changes, at once:
  /// ``ConsistentEnvironment/update(with:)`` is called once, with a ``ConsistentBatch``. An owner that does not merge this
  /// is called with each of the objects as well.
  ///
  /// Where they hold several states of one object, the outermost counts, among equally nested ones the last. See
  /// ``pushUpdatedObject(_:modifiedAt:context:isolation:)``.
  public func pushUpdatedObjects(
    _ objects: [any ConsistentObject], modifiedAt stamp: Stamp? = nil, context: TransactionContext? = nil,
    isolation: isolated (any Actor)? = #isolation
  ) {
    if objects.isEmpty { return }
    push(Push(objects, modifiedAt: stamp, context: context), except: nil, from: isolation)
  }

  /// Removes an object everywhere: from stores, and from what owners have. It is taken out of collections and dictionaries,
  /// an optional becomes `nil`, and an object that cannot do without it is removed with it.
  ///
  /// ``ConsistentEnvironment/update(with:)`` is called with a ``ConsistentBatch``, and an owner to whom the object itself
  /// belongs is told by ``ConsistentEnvironment/objectWasRemoved(_:)``. Only type and id of the object count.
  public func pushRemovedObject(
    _ object: any ConsistentObject, context: TransactionContext? = nil, isolation: isolated (any Actor)? = #isolation
  ) {
    pushRemovedObjects([object], context: context, isolation: isolation)
  }

  /// Removes several objects everywhere, at once. See ``pushRemovedObject(_:context:isolation:)``.
  public func pushRemovedObjects(
    _ objects: [any ConsistentObject], context: TransactionContext? = nil, isolation: isolated (any Actor)? = #isolation
  ) {
    let objects = objects.filter { Telling.current?.removes($0) != true }
    if objects.isEmpty { return }
    push(Push([], removing: objects, context: context), except: nil, from: isolation)
  }

  /// Who pushed, or wrote to a store, what ``ConsistentEnvironment/update(with:)`` is just called with.
  public static var context: TransactionContext? { Telling.current?.context }

  private func push(_ push: Push, except source: StoreEnvironment?, from isolation: (any Actor)?) {
    // Under the lock, so that all environments get all pushes in the same order.
    let deliveries = state.withLock { state in
      state.pushes += 1
      let number = state.pushes
      source?.notePushed(push, number: number)
      let except = source.map { ObjectIdentifier($0) }
      let registrations = state.registrations.all.filter { $0.key != except }
      push.ask(registrations.count { $0.isStore })
      return registrations.map { Delivery(registration: $0, number: $0.post(push, number: number)) }
    }
    for delivery in deliveries where delivery.registration.isStore { deliver(delivery, from: isolation) }
    let others = deliveries.filter { !$0.registration.isStore }
    let isDecided = push.isDecided { [weak self] in
      // Whoever brings the last answer is delivering to a store, and is not to wait.
      Registration.$isWithinCall.withValue(true) { for delivery in others { self?.deliver(delivery, from: nil) } }
    }
    if isDecided { for delivery in others { deliver(delivery, from: isolation) } }
  }

  private struct Delivery: Sendable {
    let registration: Registration
    let number: Int
  }

  private func deliver(_ delivery: Delivery, from isolation: (any Actor)?) {
    let registration = delivery.registration
    registration.deliver(delivery.number, from: isolation) { [weak self] in self?.forget(registration) }
  }

  // MARK: Pulling

  /// `object` as the owners know it.
  ///
  /// The objects of an owner are read where it is called. From another thread this waits for the main queue, or the
  /// queue of the owner, for a second in all: then the owners that have not answered are left out, as the queue may be
  /// waiting for this thread, or for the transaction that it is in. An owner on an actor of its own can only be read from
  /// that actor, and is left out elsewhere. So is an owner that another thread is calling, after that second, and within
  /// `update(with:)` at once.
  public func pullUpdatedObject<Object: ConsistentObject>(
    for object: Object, isolation: isolated (any Actor)? = #isolation
  ) -> Object {
    object.updated(with: known(about: [object], from: isolation))
  }

  /// `objects` as the owners know them. See ``pullUpdatedObject(for:isolation:)``.
  public func pullUpdatedObjects<Object: ConsistentObject>(
    for objects: [Object], isolation: isolated (any Actor)? = #isolation
  ) -> [Object] {
    objects.updated(with: known(about: objects, from: isolation))
  }

  /// `objects`, of any types, as the owners know them. See ``pullUpdatedObject(for:isolation:)``.
  @_disfavoredOverload
  public func pullUpdatedObjects(
    for objects: [any ConsistentObject], isolation: isolated (any Actor)? = #isolation
  ) -> [any ConsistentObject] {
    objects.updated(with: known(about: objects, from: isolation))
  }

  private func known(about objects: [any ConsistentObject], from isolation: (any Actor)?) -> ConsistentBatch {
    let (registrations, stores) = state.withLock { ($0.registrations.all, $0.stores) }
    let owned = owned(by: registrations, from: isolation)
    if stores.isEmpty { return ConsistentBatch(owned) }
    // Last, so that what a store has counts.
    let wanted = ConsistentIndex(objects).winners
    return ConsistentBatch(owned + stores.flatMap { $0.current(wanted) })
  }

  private func owned(by registrations: [Registration], from isolation: (any Actor)?) -> [any ConsistentObject] {
    let limit = Date(timeIntervalSinceNow: Registration.patience)
    let elsewhere = Questions(until: limit)
    var here: [Int: [any ConsistentObject]] = [:]
    for (number, registration) in registrations.enumerated() {
      let place = registration.currentPlace
      if place.isHere(isolation) {
        here[number] = registration.objects(until: limit)
      } else if let queue = place.queueToWaitFor {
        elsewhere.ask(registration, on: queue, number: number)
      }
    }
    let answers = elsewhere.wait()
    return registrations.indices.flatMap { here[$0] ?? answers[$0] ?? [] }
  }
}
