import Concord
import Dispatch

/// A feed that delivers events to observers, in order, one after the other, on a queue of its own.
///
/// A sender wakes the queue only if it is idle, or does its work: see ``DirectDelivery``. While an event is delivered, later events wait in a list, where each may be
/// merged with the one before it.
package final class Feed<Event: Sendable>: Sendable {
  private let state = Locked(State())
  private let queue: DispatchQueue
  /// A closure that merges two successive waiting events; it returns `nil` if they stay separate.
  private let merging: @Sendable (Event, Event) -> Event?
  /// A closure that is called after each event has been delivered, also without observers.
  private let didTell: @Sendable (Event) -> Void

  private struct Observer {
    let isConcerned: @Sendable (Event) -> Bool
    let body: @Sendable (Event) -> Void
  }

  private struct State {
    var observers: [Int: Observer] = [:]
    var nextNumber = 0
    var waiting: [Event] = []
    /// Whether the queue will deliver waiting events.
    var isAwake = false
  }

  package init(
    label: String, merging: @escaping @Sendable (Event, Event) -> Event? = { _, _ in nil },
    didTell: @escaping @Sendable (Event) -> Void = { _ in }
  ) {
    queue = DispatchQueue(label: label)
    self.merging = merging
    self.didTell = didTell
  }

  package var isFollowed: Bool { state.withLock { !$0.observers.isEmpty } }

  /// Delivers events to an observer that concern it. An event that concerns no observer does not wake the queue.
  package func observe(
    where isConcerned: @escaping @Sendable (Event) -> Bool = { _ in true }, _ body: @escaping @Sendable (Event) -> Void
  ) -> StoreObservation {
    let number = state.withLock { state in
      state.nextNumber += 1
      state.observers[state.nextNumber] = Observer(isConcerned: isConcerned, body: body)
      return state.nextNumber
    }
    return StoreObservation { [weak self] in self?.state.withLock { $0.observers[number] = nil } }
  }

  /// Enqueues an event. Events are delivered in the order of the calls.
  package func tell(_ event: Event) {
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
    guard mustWake else { return }
    if let direct = DirectDelivery.current {
      direct.add { self.queue.sync { self.deliver() } }
    } else {
      queue.async { self.deliver() }
    }
  }

  /// Delivers waiting events on the queue, and events that arrived meanwhile after other work of the queue.
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
        // An observer that ended meanwhile is not called.
        if let observer = state.withLock({ $0.observers[number] }), observer.isConcerned(event) { observer.body(event) }
      }
      didTell(event)
    }
  }

  /// Returns when all events enqueued so far have been delivered. Must not be called by an observer.
  package func settle() { queue.sync { tellWaiting() } }
}

/// A token that keeps an observation alive until it is released.
public final class StoreObservation: Sendable {
  private let end: @Sendable () -> Void

  /// Creates an observation; `end` is called once when it is released.
  public init(_ end: @escaping @Sendable () -> Void) { self.end = end }

  deinit { end() }
}
