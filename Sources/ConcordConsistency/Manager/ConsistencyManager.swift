public import Concord
public import Dispatch

/// Keeps the objects of all registered owners in step: what one pushes, the others merge into what they have.
///
/// ```swift
/// ConsistencyManager.shared.register(self)              // weakly; no need to unregister
/// ConsistencyManager.shared.pushUpdatedObject(user)     // every owner shows the new user
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
    var registrations: [Registration] = []
    /// Held strongly, because nobody else does.
    var stores: [StoreEnvironment] = []

    /// Forgets owners and stores that have gone.
    mutating func tidy() {
      stores.removeAll { $0.store == nil }
      registrations.removeAll { $0.environment == nil }
    }
  }

  private let state = Locked(State())

  public init() {}

  // MARK: Registering

  /// Registers an owner, weakly, to be called where this call is made: on the actor that the caller is isolated to (the
  /// main actor, for a view controller), or, if there is none, on the thread that pushes.
  ///
  /// Registering again replaces the registration.
  public func register(_ environment: any ConsistentEnvironment, isolation: isolated (any Actor)? = #isolation) {
    add(environment, place: isolation.map { .actor($0) } ?? .pushingThread)
  }

  /// Registers an owner, weakly, to be called on `queue`.
  public func register(_ environment: any ConsistentEnvironment, on queue: DispatchQueue) {
    add(environment, place: .queue(queue))
  }

  /// Registers an owner, weakly, to be called on `actor`, such as `MainActor.shared`.
  public func register(_ environment: any ConsistentEnvironment, on actor: any Actor) {
    add(environment, place: .actor(actor))
  }

  /// Makes a store, which is held weakly, and the owners follow each other: a push updates those entities of the store
  /// that are among the pushed objects (it never stores new ones), and a transaction in the store pushes the entities
  /// that it stored or changed, as far as they are objects. Pulling prefers what the store has.
  public func register(_ store: EntityStore) {
    let environment = StoreEnvironment(store) { [weak self] environment, objects in
      self?.push(objects, except: environment, from: nil)
    }
    let registration = Registration(environment, place: .pushingThread, mayWait: false)
    state.withLock { state in
      state.stores.removeAll { $0.store === store }
      state.tidy()
      state.stores.append(environment)
      state.registrations.append(registration)
    }
  }

  private func add(_ environment: any ConsistentEnvironment, place: Place) {
    let registration = Registration(environment, place: place, mayWait: true)
    state.withLock { state in
      state.tidy()
      state.registrations.removeAll { $0.environment === environment }
      state.registrations.append(registration)
    }
  }

  // MARK: Pushing

  /// Gives the new state of an object, and of all it contains, to every owner.
  ///
  /// Owners that are called on this thread or this actor have it when the call returns, after waiting, for at most a
  /// second, for another thread that is just calling them. From within `update(with:)` there is no waiting. Where this
  /// thread does not wait, that other thread goes on with the push. Owners elsewhere get it soon.
  public func pushUpdatedObject(_ object: any ConsistentObject, isolation: isolated (any Actor)? = #isolation) {
    push([object], except: nil, from: isolation)
  }

  /// Gives the new state of several objects to every owner, at once: ``ConsistentEnvironment/update(with:)`` is called
  /// once, with a ``ConsistentBatch``.
  public func pushUpdatedObjects(_ objects: [any ConsistentObject], isolation: isolated (any Actor)? = #isolation) {
    push(objects, except: nil, from: isolation)
  }

  private func push(
    _ objects: [any ConsistentObject], except source: StoreEnvironment?, from isolation: (any Actor)?
  ) {
    guard let first = objects.first else { return }
    let object = Unchecked(objects.count == 1 ? first : ConsistentBatch(objects))
    // Under the lock, so that all environments get all pushes in the same order.
    let deliveries = state.withLock { state in
      state.tidy()
      let targets = state.registrations.filter { $0.environment !== source }
      return targets.map { (registration: $0, number: $0.post(object)) }
    }
    for delivery in deliveries { delivery.registration.deliver(delivery.number, from: isolation) }
  }

  // MARK: Pulling

  /// `object` as the owners know it.
  ///
  /// The objects of an owner are read where it is called. From another thread this waits for the main queue, or the
  /// queue of the owner: do not call it while they wait for you. An owner on an actor of its own can only be read from
  /// that actor, and is left out elsewhere. So is an owner that another thread is calling, after a second, and within
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
    let (registrations, stores) = state.withLock { ($0.registrations, $0.stores) }
    let owned = registrations.flatMap { $0.objects(from: isolation) }
    if stores.isEmpty { return ConsistentBatch(owned) }
    // Last, so that what a store has counts.
    let wanted = ConsistentIndex(objects).winners
    return ConsistentBatch(owned + stores.flatMap { $0.current(wanted) })
  }
}
