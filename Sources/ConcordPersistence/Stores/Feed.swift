import Concord
import Dispatch

/// Tells those who follow what happened, in order, one after the other, on a queue of its own.
///
/// Whoever tells wakes the queue only if it sleeps: while something is told, what happens meanwhile waits in a list, where it may
/// become one event with what waits before it.
final class Feed<Event: Sendable>: Sendable {
  private let state = Locked(State())
  private let queue: DispatchQueue
  /// Makes one event of two that wait one behind the other; `nil` if they stay two.
  private let merging: @Sendable (Event, Event) -> Event?
  /// Is called after all have been told of an event, also where nobody follows.
  private let didTell: @Sendable (Event) -> Void

  private struct Observer {
    let isConcerned: @Sendable (Event) -> Bool
    let body: @Sendable (Event) -> Void
  }

  private struct State {
    var observers: [Int: Observer] = [:]
    var nextNumber = 0
    var waiting: [Event] = []
    /// Whether the queue will look at what waits.
    var isAwake = false
  }

  init(
    label: String, merging: @escaping @Sendable (Event, Event) -> Event? = { _, _ in nil },
    didTell: @escaping @Sendable (Event) -> Void = { _ in }
  ) {
    queue = DispatchQueue(label: label)
    self.merging = merging
    self.didTell = didTell
  }

  var isFollowed: Bool { state.withLock { !$0.observers.isEmpty } }

  /// Tells an observer of the events that concern it. For an event that concerns nobody the queue sleeps on.
  func observe(
    where isConcerned: @escaping @Sendable (Event) -> Bool = { _ in true }, _ body: @escaping @Sendable (Event) -> Void
  ) -> StoreObservation {
    let number = state.withLock { state in
      state.nextNumber += 1
      state.observers[state.nextNumber] = Observer(isConcerned: isConcerned, body: body)
      return state.nextNumber
    }
    return StoreObservation { [weak self] in self?.state.withLock { $0.observers[number] = nil } }
  }

  /// Enqueues an event. Whoever calls it in some order has its events told in that order.
  func tell(_ event: Event) {
    let mustWake: Bool? = state.withLock { state in
      if !state.observers.values.contains(where: { $0.isConcerned(event) }) { return nil }
      if let last = state.waiting.last, let merged = merging(last, event) {
        state.waiting[state.waiting.count - 1] = merged
      } else {
        state.waiting.append(event)
      }
      defer { state.isAwake = true }
      return !state.isAwake
    }
    guard let mustWake else { return didTell(event) }
    if mustWake { queue.async { self.deliver() } }
  }

  /// On the queue: tells what waits, and comes back for what came meanwhile, after others who wait for the queue.
  private func deliver() {
    tellWaiting()
    let goesOn = state.withLock { state in
      state.isAwake = !state.waiting.isEmpty
      return state.isAwake
    }
    if goesOn { queue.async { self.deliver() } }
  }

  private func tellWaiting() {
    let events = state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
    for event in events {
      for number in state.withLock({ $0.observers.keys.sorted() }) {
        // One that ended meanwhile is not called.
        if let observer = state.withLock({ $0.observers[number] }), observer.isConcerned(event) { observer.body(event) }
      }
      didTell(event)
    }
  }

  /// Returns when all that was enqueued so far has been told. Not from within an observer.
  func settle() { queue.sync { tellWaiting() } }
}

/// Follows a store as long as it is retained.
public final class StoreObservation: Sendable {
  private let end: @Sendable () -> Void

  /// Creates an observation; `end` is called once when it is released.
  public init(_ end: @escaping @Sendable () -> Void) { self.end = end }

  deinit { end() }
}
