import Concord
import Foundation

/// An environment with the place where it is called, and the pushes that it has not received yet.
///
/// One thread at a time is busy with the environment, and also delivers pushes that arrive meanwhile.
// Unchecked because of the environment, which is only loaded where it is called, or while the caller holds it (so that
// it is never released by a thread that it does not belong to), of `inFlight`, which only the busy thread uses, and of
// the fields guarded by `condition`.
final class Registration: @unchecked Sendable {
  /// Whether this thread is within a call of an environment. Then it does not wait for other threads, which might be waiting
  /// for it.
  @TaskLocal static var isWithinCall = false

  private weak var environment: (any ConsistentEnvironment)?
  /// The address of the environment, which another one may have after its release.
  let key: ObjectIdentifier
  /// Whether the environment is a store's. No thread may wait for one that another thread is busy with, because that may be
  /// waiting for the transaction that this thread is in.
  let isStore: Bool
  private var inFlight = InFlight()

  private let condition = NSCondition()
  /// The place where the environment is called, guarded by `condition`.
  private var place: Place
  /// Whether the environment is paused, guarded by `condition`.
  private var isPaused = false
  /// Whether waiting pushes are to be combined, guarded by `condition`.
  private var mustCombine = false
  /// Whether the environment was unregistered or released, guarded by `condition`.
  private var hasEnded = false
  /// The pushes that were not delivered, guarded by `condition`.
  private var waiting: [(push: Push, number: Int)] = []
  /// The number of pushes that may wait during a pause before they are combined, guarded by `condition`.
  private var waitingLimit = leastLimit
  private static let leastLimit = 128
  /// The numbers of posted and of delivered pushes, guarded by `condition`.
  private var posted = 0
  private var delivered = 0
  /// The thread that is busy with the environment, guarded by `condition`.
  private var busyThread: Thread?

  init(_ environment: any ConsistentEnvironment, place: Place) {
    self.environment = environment
    key = ObjectIdentifier(environment)
    isStore = environment is StoreEnvironment
    self.place = place
  }

  // MARK: Registering

  /// Changes the place where the environment is called, also with waiting pushes. Returns `false` if this is the registration
  /// of another environment, which had the same address.
  func move(_ environment: any ConsistentEnvironment, to place: Place) -> Bool {
    guard self.environment === environment else { return false }
    condition.withLock { self.place = place }
    return true
  }

  /// Stops delivering until `resume`.
  func pause() { condition.withLock { isPaused = true } }

  /// Whether the environment is paused.
  var isHeld: Bool { condition.withLock { isPaused } }

  /// Delivers again, beginning with the missed pushes, combined. Returns the number to deliver.
  func resume() -> Int {
    condition.withLock {
      (mustCombine, isPaused) = (mustCombine || isPaused, false)
      return posted
    }
  }

  /// Combines the waiting pushes that the stores have answered. Only the busy thread may call it.
  private func combineWaiting() {
    let ready = condition.withLock {
      // A long pause must not keep every push.
      guard mustCombine || (isPaused && waiting.count > waitingLimit) else { return [(push: Push, number: Int)]() }
      if mustCombine { waitingLimit = Self.leastLimit }
      mustCombine = false
      return Array(waiting.prefix { $0.push.content != nil })
    }
    guard ready.count > 1 else { return }
    var missed = MissedPushes()
    for (push, _) in ready { missed.append(push) }
    let combined = missed.combined
    condition.withLock {
      guard waiting.count >= ready.count else { return }
      waiting.replaceSubrange(..<ready.count, with: combined.map { ($0, ready[0].number) })
      // Twice what is left, so that where little can be combined, not every push tries.
      waitingLimit = max(Self.leastLimit, 2 * waiting.count)
      delivered += ready.count - combined.count
      condition.broadcast()
    }
  }

  /// Ends the registration, after which nothing is delivered.
  func end() {
    let undelivered = condition.withLock {
      defer { waiting = [] }
      hasEnded = true
      delivered = posted
      condition.broadcast()
      return waiting
    }
    if isStore { for (push, _) in undelivered { push.answer() } }
  }

  /// Calls `forget` if the environment was released, at the place where it would be called, or if its actor was.
  func check(_ forget: @escaping @Sendable () -> Void) {
    let place = condition.withLock { self.place }
    if !place.run({ if self.environment == nil { forget() } }) { forget() }
  }

  // MARK: Delivering

  /// Adds the push with the given number among all. Returns the number with which `deliver(_:from:)` delivers it.
  func post(_ push: Push, number: Int) -> Int {
    condition.withLock {
      waiting.append((push, number))
      posted += 1
      return posted
    }
  }

  /// Calls the environment with the pushes up to the given one that all stores have answered, here if this is its place.
  /// Calls `forget` if the environment or its actor was released.
  func deliver(_ number: Int, from isolation: (any Actor)?, orElse forget: @escaping @Sendable () -> Void) {
    let place = condition.withLock { self.place }
    if place.isHere(isolation) {
      deliver(number, at: place, orElse: forget)
    } else if !place.run({ self.deliver(number, at: place, orElse: forget) }) {
      end()
      forget()
    }
  }

  private func deliver(_ number: Int, at place: Place, orElse forget: @escaping @Sendable () -> Void) {
    guard begin(orUntilDelivered: number) else { return }
    deliverAll(at: place, orElse: forget)
  }

  private func deliverAll(at place: Place, orElse forget: @escaping @Sendable () -> Void) {
    combineWaiting()
    while let (push, pushNumber) = next(at: place, orElse: forget) {
      guard let environment else {
        if isStore { push.answer() }
        end()
        forget()
        continue
      }
      Self.$isWithinCall.withValue(true) {
        if let store = environment as? StoreEnvironment {
          push.answer(keeping: store.take(push, number: pushNumber))
        } else if let content = push.content {
          tell(environment, content, push.context)
        }
      }
      condition.withLock {
        delivered = min(delivered + 1, posted)
        condition.broadcast()
      }
    }
  }

  private func tell(_ environment: any ConsistentEnvironment, _ push: Push.Content, _ context: TransactionContext?) {
    let (change, mustTell) = inFlight.look(at: environment, for: push)
    guard mustTell else { return }
    inFlight.insert(push, changing: change)
    let gone = push.index.removes ? environment.objects.filter { push.index.removes($0) } : []
    let telling = Telling(push, context)
    Telling.$current.withValue(telling) {
      environment.update(with: push.object)
      if telling.ignoredBatch {
        for object in push.objects where !condition.withLock({ hasEnded }) { environment.update(with: object) }
      }
      for object in gone where !condition.withLock({ hasEnded }) { environment.objectWasRemoved(object) }
    }
  }

  // MARK: Reading

  /// Returns the environment's objects, read here; none if another thread is busy with the environment for too long.
  func objects(until limit: Date) -> [any ConsistentObject] {
    let place = condition.withLock { self.place }
    guard begin(until: limit) else {
      let isBusyHere = condition.withLock { busyThread == Thread.current }
      return isBusyHere ? environment?.objects ?? [] : []
    }
    let objects = Self.$isWithinCall.withValue(true) { environment?.objects ?? [] }
    // No other thread delivers what was pushed meanwhile.
    deliverAll(at: place, orElse: {})
    return objects
  }

  /// The place where the environment can be read.
  var currentPlace: Place { condition.withLock { place } }

  // MARK: One thread at a time

  /// The time for which a thread waits for another, which ends a deadlock if that waits for this one.
  static let patience: TimeInterval = 1

  /// Makes this thread the busy one, once no other is. Returns `false` if it must not wait, has waited too long, or another
  /// thread has delivered the push with the given number.
  private func begin(orUntilDelivered number: Int = .max, until limit: Date? = nil) -> Bool {
    let mayWait = !isStore && !Self.isWithinCall
    let limit = limit ?? Date(timeIntervalSinceNow: Self.patience)
    return condition.withLock {
      while busyThread != nil {
        if delivered >= number { return false }
        guard mayWait, condition.wait(until: limit) else { return false }
      }
      busyThread = .current
      return true
    }
  }

  /// Returns the next push to deliver at `place`. If there is none, or the environment is called elsewhere by now, this
  /// thread is not busy any longer.
  private func next(at place: Place, orElse forget: @escaping @Sendable () -> Void) -> (push: Push, number: Int)? {
    let (push, moved) = condition.withLock { () -> ((push: Push, number: Int)?, Int?) in
      let isHere = self.place.isSame(as: place)
      // A push that stores have not answered, and all after it, are delivered by the thread with the last answer.
      let isReady = waiting.first.map { isStore || $0.push.content != nil } ?? false
      if isHere, isReady, !isPaused { return (waiting.removeFirst(), nil) }
      busyThread = nil
      condition.broadcast()
      return (nil, isReady && !isPaused ? posted : nil)
    }
    if let moved { deliver(moved, from: nil, orElse: forget) }
    return push
  }
}
