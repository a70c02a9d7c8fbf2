public import Dispatch
import Synchronization

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

  private let registrations = Mutex<[Registration]>([])

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

  private func add(_ environment: any ConsistentEnvironment, place: Place) {
    let registration = Registration(environment, place: place)
    registrations.withLock { registrations in
      registrations.removeAll { $0.environment == nil || $0.environment === environment }
      registrations.append(registration)
    }
  }

  // MARK: Pushing

  /// Gives the new state of an object, and of all it contains, to every owner.
  ///
  /// Owners that are called on this thread or this actor have it when the call returns, after waiting for other
  /// threads that are just calling them (so `update(with:)` must not wait for a thread that pushes). From within
  /// `update(with:)` there is no waiting: an owner that is being called gets it afterwards. Other owners get it soon.
  public func pushUpdatedObject(_ object: any ConsistentObject, isolation: isolated (any Actor)? = #isolation) {
    push(object, from: isolation)
  }

  /// Gives the new state of several objects to every owner, at once: ``ConsistentEnvironment/update(with:)`` is called
  /// once, with a ``ConsistentBatch``.
  public func pushUpdatedObjects(_ objects: [any ConsistentObject], isolation: isolated (any Actor)? = #isolation) {
    guard let first = objects.first else { return }
    push(objects.count == 1 ? first : ConsistentBatch(objects), from: isolation)
  }

  private func push(_ object: any ConsistentObject, from isolation: (any Actor)?) {
    let delivery = Unchecked(object)
    // Under the lock, so that all environments get all pushes in the same order.
    let registrations = registrations.withLock { registrations in
      registrations.removeAll { $0.environment == nil }
      for registration in registrations { registration.post(delivery) }
      return registrations
    }
    for registration in registrations { registration.deliver(from: isolation) }
  }

  // MARK: Pulling

  /// `object` as the owners know it.
  ///
  /// The objects of an owner are read where it is called. From another thread this waits for the main queue, or the
  /// queue of the owner: do not call it while they wait for you. An owner on an actor of its own can only be read from
  /// that actor, and is left out elsewhere. So is, within `update(with:)`, an owner that another thread is calling.
  public func pullUpdatedObject<Object: ConsistentObject>(
    for object: Object, isolation: isolated (any Actor)? = #isolation
  ) -> Object {
    object.updated(with: known(from: isolation))
  }

  /// `objects` as the owners know them. See ``pullUpdatedObject(for:isolation:)``.
  public func pullUpdatedObjects<Object: ConsistentObject>(
    for objects: [Object], isolation: isolated (any Actor)? = #isolation
  ) -> [Object] {
    objects.updated(with: known(from: isolation))
  }

  /// `objects`, of any types, as the owners know them. See ``pullUpdatedObject(for:isolation:)``.
  public func pullUpdatedObjects(
    for objects: [any ConsistentObject], isolation: isolated (any Actor)? = #isolation
  ) -> [any ConsistentObject] {
    objects.updated(with: known(from: isolation))
  }

  private func known(from isolation: (any Actor)?) -> ConsistentBatch {
    let registrations = registrations.withLock { $0 }
    return ConsistentBatch(registrations.flatMap { $0.objects(from: isolation) })
  }
}
