public import Concord
public import Dispatch
import Foundation

/// A manager that keeps the objects of all registered owners consistent: what one owner pushes is merged into the objects of
/// all others.
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

  /// The handler of problems that keep a merge from being complete, called on the merging thread. Without a handler, each
  /// kind of problem is written to standard error once.
  public static var onProblem: (@Sendable (ConsistencyProblem) -> Void)? {
    get { ProblemReporter.shared.handler }
    set { ProblemReporter.shared.handler = newValue }
  }

  private struct State {
    var registrations = Registrations()
    /// The registered stores' environments, which only the manager retains.
    var stores: [StoreEnvironment] = []
    /// The number of pushes so far.
    var pushes = 0
  }

  private let state = Locked(State())

  /// Creates a manager without owners.
  public init() {}

  // MARK: Registering

  /// Registers an owner, weakly, to be called on the actor that the caller is isolated to (the main actor, for a view
  /// controller), or, if there is none, on the pushing thread.
  ///
  /// If the owner is registered already, it is called at the new place from now on, in the order of the pushes. The actor is not
  /// retained either: an owner that outlives it is called no longer.
  ///
  /// - Complexity: constant.
  public func register(
    _ environment: any ConsistentEnvironment & Sendable, isolation: isolated (any Actor)? = #isolation
  ) {
    add(environment, place: isolation.map { .actor(WeakActor($0)) } ?? .pushingThread)
  }

  /// Registers an owner that belongs to an actor and is not `Sendable`, weakly, to be called on that actor, which must be
  /// the one that the caller is isolated to. The actor is not retained either, and so may retain the owner.
  ///
  /// ```swift
  /// actor Library {
  ///   let shelf = Shelf()
  ///   func open() { manager.register(shelf, isolatedTo: self) }
  /// }
  /// ```
  public func register(_ environment: any ConsistentEnvironment, isolatedTo actor: isolated any Actor) {
    add(environment, place: .actor(WeakActor(actor)))
  }

  /// Registers an owner, weakly, to be called on `queue`.
  ///
  /// - Parameters:
  ///   - environment: the owner.
  ///   - queue: the queue on which the owner is called.
  public func register(_ environment: any ConsistentEnvironment & Sendable, on queue: DispatchQueue) {
    add(environment, place: .queue(queue))
  }

  /// Registers an owner, weakly, to be called on `actor`, such as `MainActor.shared`, for as long as both exist.
  public func register(_ environment: any ConsistentEnvironment & Sendable, on actor: any Actor) {
    add(environment, place: .actor(WeakActor(actor)))
  }

  /// Registers a store, weakly: a push updates those entities of the store that are among the pushed objects (it never stores
  /// new ones), and each transaction in the store pushes the entities that it stored, changed or removed, if they are
  /// objects. Entities that the store releases, since nothing retains them any longer, stay with the owners. Pulling prefers
  /// the store's states.
  ///
  /// Stores are asked first: a state that one discards as stale is not passed to owners, which receive the store's state
  /// instead. A push within a transaction is a part of it for the store; if the transaction throws, owners keep what they
  /// received.
  ///
  /// Changes that the store's optimistic layers show, and their end, are pushed like any other change. A push to the store
  /// goes beneath the layers: owners then show the pushed state, until the layers show another. The store ignores a pushed state
  /// without a stamp that equals the shown one, since it is an owner's echo of what the layers show. Of two stores only one
  /// should have layers on the same entities, since each treats the shown state of the other as the base of its own layers.
  public func register(_ store: EntityStore) {
    let environment = StoreEnvironment(store) { [weak self] environment, push in
      self?.push(push, except: environment, from: nil)
    }
    let registration = Registration(environment, place: .pushingThread)
    // Released without the lock.
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

  /// Ends the registration of an owner: it receives no later pushes, and none that wait, except for one that another thread
  /// may just be delivering. An owner that is released need not be unregistered.
  public func unregister(_ environment: AnyObject) {
    state.withLock { $0.registrations[ObjectIdentifier(environment)] }.map(forget)
  }

  /// Ends the registration of a store: it receives no later pushes, and its later changes are not pushed, except for those
  /// that another thread may just be delivering.
  public func unregister(_ store: EntityStore) {
    let ended = state.withLock { state in
      let ended = state.stores.filter { $0.store === store }
      for environment in ended { state.registrations.remove(ObjectIdentifier(environment)) }
      state.stores.removeAll { $0.store === store }
      return ended
    }
    for environment in ended { environment.end() }
  }

  /// Ends the registrations of all owners and stores, as ``unregister(_:)`` ends one: when a user signs out, for example.
  public func unregisterAll() {
    let (registrations, stores) = state.withLock { state in
      defer { (state.registrations, state.stores) = (Registrations(), []) }
      return (state.registrations.all, state.stores)
    }
    for registration in registrations { registration.end() }
    for environment in stores { environment.end() }
  }

  /// Returns whether an owner is registered and paused.
  public func isPaused(_ environment: AnyObject) -> Bool {
    state.withLock { $0.registrations[ObjectIdentifier(environment)] }?.isHeld ?? false
  }

  /// Stops delivering pushes to an owner until ``resume(_:isolation:)``: to a screen that is not shown, for example.
  ///
  /// The last state of each object pushed meanwhile is kept, and the removals are. One push that another thread is just delivering may still
  /// arrive. Pushes by the owner reach the other owners as before, and pulling reads its objects.
  public func pause(_ environment: AnyObject) {
    state.withLock { $0.registrations[ObjectIdentifier(environment)] }?.pause()
  }

  /// Delivers pushes to a paused owner again, beginning with the missed ones.
  ///
  /// The owner ends with the objects that it would have without the pause. Missed pushes are combined into one call of
  /// ``ConsistentEnvironment/update(with:)``, with the last state of each object; updates that cancelled each other out make no
  /// call. Only a removal that later updates follow comes in a call before them, since these may bring the object again.
  ///
  /// If the owner has edited its objects meanwhile, what was removed goes from the edited ones, with what requires it, and the later
  /// updates follow.
  ///
  /// The place of the calls, and the time that this method waits for them, are those of a push.
  public func resume(_ environment: AnyObject, isolation: isolated (any Actor)? = #isolation) {
    guard let registration = state.withLock({ $0.registrations[ObjectIdentifier(environment)] }) else { return }
    deliver(Delivery(registration: registration, number: registration.resume()), from: isolation)
  }

  private func forget(_ registration: Registration) {
    registration.end()
    state.withLock { $0.registrations.remove(registration) }
  }

  // MARK: Pushing

  /// Pushes the new state of an object, and of all objects inside it, to every owner with objects that this changes.
  ///
  /// Owners that are called on this thread or this actor have received it when the call returns, which waits, for at most a
  /// second, for another thread that is just calling them. From within `update(with:)` it does not wait. Where this thread
  /// does not wait, or another one is just writing to a registered store, that other thread continues the push. Owners
  /// elsewhere receive it soon.
  ///
  /// An owner that has none of the objects, or all in that state, is not called, so that owners which push their objects
  /// whenever they change come to an end. An owner that has not yet merged an earlier push is called in any case.
  ///
  /// - Parameters:
  ///   - object: the new state.
  ///   - stamp: the stamp of the state, for stores that have the object. A state that a store discards as stale reaches no
  ///     owner.
  ///   - context: the name of the pushing code, which change sets of stores and owners (``context``) receive.
  ///   - isolation: the caller's actor, which the compiler passes.
  public func pushUpdatedObject(
    _ object: any ConsistentObject, modifiedAt stamp: Stamp? = nil, context: TransactionContext? = nil,
    isolation: isolated (any Actor)? = #isolation
  ) {
    push(Push([object], modifiedAt: stamp, context: context), except: nil, from: isolation)
  }

  /// Pushes the new states of several objects at once to every owner with objects that they change.
  ///
  /// ``ConsistentEnvironment/update(with:)`` is called once, with a ``ConsistentBatch``. An owner that does not merge batches
  /// is also called with each of the objects.
  ///
  /// Where they hold several states of one object, the outermost counts, among equally nested ones the last. See
  /// ``pushUpdatedObject(_:modifiedAt:context:isolation:)``.
  ///
  /// - Parameters:
  ///   - objects: the new states.
  ///   - stamp: the stamp of the states, for stores that have the objects. A state that a store discards as stale reaches no
  ///     owner.
  ///   - context: the name of the pushing code, which change sets of stores and owners (``context``) receive.
  ///   - isolation: the caller's actor, which the compiler passes.
  public func pushUpdatedObjects(
    _ objects: [any ConsistentObject], modifiedAt stamp: Stamp? = nil, context: TransactionContext? = nil,
    isolation: isolated (any Actor)? = #isolation
  ) {
    if objects.isEmpty { return }
    push(Push(objects, modifiedAt: stamp, context: context), except: nil, from: isolation)
  }

  /// Removes an object everywhere: from stores, and from the objects of owners. It is removed from collections and
  /// dictionaries, an optional becomes `nil`, and an object that requires it is removed with it.
  ///
  /// ``ConsistentEnvironment/update(with:)`` is called with a ``ConsistentBatch``, and an owner to whom the object itself
  /// belongs is told by ``ConsistentEnvironment/objectWasRemoved(_:)``. Only type and id of the object count.
  ///
  /// - Parameters:
  ///   - object: the object, of which only type and id count.
  ///   - context: the name of the pushing code, which change sets of stores and owners (``context``) receive.
  ///   - isolation: the caller's actor, which the compiler passes.
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

  /// The context of the push or the store's transaction with which ``ConsistentEnvironment/update(with:)`` is being called.
  public static var context: TransactionContext? { Telling.current?.context }

  private func push(_ push: Push, except source: StoreEnvironment?, from isolation: (any Actor)?) {
    // Without the lock, since ids are the user's code.
    let keys = source == nil ? [] : push.given.index.updated.map { ObjectKey($0) }
    // Under the lock, so that all environments get all pushes in the same order.
    let deliveries = state.withLock { state in
      state.pushes += 1
      let number = state.pushes
      source?.notePushed(keys, number: number)
      let except = source.map { ObjectIdentifier($0) }
      let registrations = state.registrations.all.filter { $0.key != except }
      push.ask(registrations.count { $0.isStore })
      return registrations.map { Delivery(registration: $0, number: $0.post(push, number: number)) }
    }
    for delivery in deliveries where delivery.registration.isStore { deliver(delivery, from: isolation) }
    let others = deliveries.filter { !$0.registration.isStore }
    let isDecided = push.isDecided { [weak self] in
      // The thread with the last answer is delivering to a store, and must not wait.
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

  /// Returns the owners' newest state of an object.
  ///
  /// The objects of an owner are read where it is called. Another thread waits for the main queue, or the queue of the owner,
  /// for a second in all: then the owners that have not answered are skipped, since the queue may be waiting for this thread,
  /// or for the transaction that it is in. An owner on an actor of its own can only be read from that actor, and is skipped
  /// elsewhere. An owner that another thread is calling is also skipped, after that second, or at once within `update(with:)`.
  public func pullUpdatedObject<Object: ConsistentObject>(
    for object: Object, isolation: isolated (any Actor)? = #isolation
  ) -> Object {
    object.updated(with: known(about: [object], from: isolation))
  }

  /// Returns the owners' newest states of several objects. See ``pullUpdatedObject(for:isolation:)``.
  public func pullUpdatedObjects<Object: ConsistentObject>(
    for objects: [Object], isolation: isolated (any Actor)? = #isolation
  ) -> [Object] {
    objects.updated(with: known(about: objects, from: isolation))
  }

  /// Returns the owners' newest states of several objects of any types. See ``pullUpdatedObject(for:isolation:)``.
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
    // Last, so that states of stores count.
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
