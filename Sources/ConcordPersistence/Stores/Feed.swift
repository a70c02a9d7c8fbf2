import Concord
import Dispatch

/// Tells those who follow what happened, in order, one after the other, on a queue of its own.
final class Feed<Event: Sendable>: Sendable {
  private let state = Locked(State())
  private let queue: DispatchQueue

  private struct State {
    var observers: [Int: @Sendable (Event) -> Void] = [:]
    var nextNumber = 0
  }

  init(label: String) { queue = DispatchQueue(label: label) }

  var isFollowed: Bool { state.withLock { !$0.observers.isEmpty } }

  func observe(_ body: @escaping @Sendable (Event) -> Void) -> StoreObservation {
    let number = state.withLock { state in
      state.nextNumber += 1
      state.observers[state.nextNumber] = body
      return state.nextNumber
    }
    return StoreObservation { [weak self] in self?.state.withLock { $0.observers[number] = nil } }
  }

  /// Enqueues an event. Whoever calls it in some order has its events told in that order.
  func tell(_ event: Event) {
    guard isFollowed else { return }
    queue.async { [self] in
      for number in state.withLock({ $0.observers.keys.sorted() }) {
        // One that ended meanwhile is not called.
        state.withLock { $0.observers[number] }?(event)
      }
    }
  }

  /// Returns when all that was enqueued so far has been told. Not from within an observer.
  func settle() { queue.sync {} }
}

/// Follows a store as long as it is retained.
public final class StoreObservation: Sendable {
  private let end: @Sendable () -> Void

  public init(_ end: @escaping @Sendable () -> Void) { self.end = end }

  deinit { end() }
}
