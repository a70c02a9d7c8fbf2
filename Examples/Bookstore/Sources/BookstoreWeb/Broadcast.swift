import Synchronization

/// Tells each of many listeners the same, in the same order. One that is slow misses the oldest of it.
package final class Broadcast<Element: Sendable>: Sendable {
  private struct State {
    var listeners: [Int: AsyncStream<Element>.Continuation] = [:]
    var nextNumber = 0
  }

  private let state = Mutex(State())
  /// The maximum number of elements that wait for a listener.
  package static var limit: Int { 1024 }

  package init() {}

  /// What is sent from now on; the newest of it, if more waits than the limit.
  package func listen() -> AsyncStream<Element> {
    let (stream, continuation) = AsyncStream<Element>.makeStream(bufferingPolicy: .bufferingNewest(Self.limit))
    let number = state.withLock { state in
      state.nextNumber += 1
      state.listeners[state.nextNumber] = continuation
      return state.nextNumber
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
    }
    return stream
  }

  package func send(_ element: Element) {
    let listeners = state.withLock { Array($0.listeners.values) }
    for listener in listeners { listener.yield(element) }
  }
}
