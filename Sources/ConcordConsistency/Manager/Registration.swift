import Foundation

/// An environment, where it is called, and the pushes it has not seen yet.
///
/// One thread at a time is busy with the environment; whoever is, also delivers what arrives meanwhile.
// Unchecked because of the environment, which only the busy thread touches, and of the fields guarded by `condition`.
final class Registration: @unchecked Sendable {
  /// Whether this thread is within a call of some environment. Then it does not wait for others, which might be
  /// waiting for it.
  @TaskLocal private static var isWithinCall = false

  private(set) weak var environment: (any ConsistentEnvironment)?
  private let place: Place
  /// Whether this thread may wait for others that are busy with the environment. Nobody may wait for a store, because
  /// others may be waiting for the transaction that this thread is in.
  private let mayWait: Bool
  private let condition = NSCondition()
  /// What was pushed and not delivered, guarded by `condition`.
  private var waiting: [Unchecked<any ConsistentObject>] = []
  /// How many pushes came, and how many of them were delivered, guarded by `condition`.
  private var posted = 0
  private var delivered = 0
  /// The thread that is busy with the environment, guarded by `condition`.
  private var busyThread: Thread?

  init(_ environment: any ConsistentEnvironment, place: Place, mayWait: Bool) {
    self.environment = environment
    self.place = place
    self.mayWait = mayWait
    place.prepare()
  }

  // MARK: Delivering

  /// Takes a push, to be delivered by a call of `deliver(_:from:)` with the number that this returns.
  func post(_ object: Unchecked<any ConsistentObject>) -> Int {
    condition.withLock {
      waiting.append(object)
      posted += 1
      return posted
    }
  }

  /// Calls the environment with the pushes up to the given one, here if this is the place for it.
  func deliver(_ number: Int, from isolation: (any Actor)?) {
    if place.isHere(isolation) {
      deliverHere(number)
    } else {
      place.async { self.deliverHere(number) }
    }
  }

  private func deliverHere(_ number: Int) {
    if begin(orUntilDelivered: number) { end() }
  }

  // MARK: Reading

  /// What the environment owns; nothing if it cannot be read from here.
  func objects(from isolation: (any Actor)?) -> [any ConsistentObject] {
    if place.isHere(isolation) { return objectsHere() }
    return place.sync { Unchecked(objectsHere()) }?.value ?? []
  }

  private func objectsHere() -> [any ConsistentObject] {
    guard begin() else {
      let isBusyHere = condition.withLock { busyThread == Thread.current }
      return isBusyHere ? environment?.objects ?? [] : []
    }
    defer { end() }
    return Self.$isWithinCall.withValue(true) { environment?.objects ?? [] }
  }

  // MARK: One thread at a time

  /// How long a thread waits for another. Should that wait for it in turn, this ends it.
  private static let patience: TimeInterval = 1

  /// Makes this thread the busy one, once no other is. `false` if it must not wait for that, has waited too long, or
  /// another thread has delivered the push with the given number.
  private func begin(orUntilDelivered number: Int = .max) -> Bool {
    let mayWait = mayWait && !Self.isWithinCall
    return condition.withLock {
      let limit = Date(timeIntervalSinceNow: Self.patience)
      while busyThread != nil {
        if delivered >= number { return false }
        guard mayWait, condition.wait(until: limit) else { return false }
      }
      busyThread = .current
      return true
    }
  }

  /// Delivers all that is waiting, then lets the next thread in.
  private func end() {
    while let objects = takeWaiting() {
      Self.$isWithinCall.withValue(true) {
        for object in objects { environment?.update(with: object.value) }
      }
      condition.withLock {
        delivered += objects.count
        condition.broadcast()
      }
    }
  }

  private func takeWaiting() -> [Unchecked<any ConsistentObject>]? {
    condition.withLock {
      guard !waiting.isEmpty else {
        busyThread = nil
        condition.broadcast()
        return nil
      }
      defer { waiting = [] }
      return waiting
    }
  }
}
