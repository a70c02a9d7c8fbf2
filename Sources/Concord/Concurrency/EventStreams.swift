import Dispatch

/// Streams that all get the same elements, in one order, each from when it was made.
///
/// They get them on a queue, and under no lock. A task that reads a stream may be cancelled at that moment: then the runtime holds a lock of the
/// task while the stream ends, and the task is resumed under the same lock.
package final class EventStreams<Element: Sendable>: Sendable {
  private let queue = DispatchQueue(label: "concord.streams")
  private let state = Locked(State())
  private let capacity: Int

  private struct State {
    var streams: [Int: AsyncStream<Element>.Continuation] = [:]
    var lastNumber = 0
    var hasEnded = false
  }

  /// - Parameter capacity: the number of elements, the newest ones, that a stream keeps for a slow reader.
  package init(keepingNewest capacity: Int) { self.capacity = capacity }

  /// Makes a stream of what is sent from now on, behind a first element if there is one.
  package func stream(beginningWith first: Element? = nil) -> AsyncStream<Element> {
    let (stream, continuation) = AsyncStream<Element>.makeStream(bufferingPolicy: .bufferingNewest(capacity))
    if let first { continuation.yield(first) }
    let number: Int? = state.withLock { state in
      if state.hasEnded { return nil }
      state.lastNumber += 1
      state.streams[state.lastNumber] = continuation
      return state.lastNumber
    }
    if let number {
      continuation.onTermination = { [weak self] _ in
        let gone = self?.state.withLock { $0.streams.removeValue(forKey: number) }
        withExtendedLifetime(gone) {}
      }
    } else {
      continuation.finish()
    }
    return stream
  }

  /// Sends an element to all streams that there are now. Never waits; may be called under any lock.
  package func send(_ element: Element) {
    state.withLock { state in
      if state.streams.isEmpty { return }
      queue.async { [streams = state.streams] in for (_, stream) in streams { stream.yield(element) } }
    }
  }

  /// Ends all streams, after what was sent so far.
  package func end() {
    state.withLock { state in
      queue.async { [streams = state.streams] in for (_, stream) in streams { stream.finish() } }
      (state.streams, state.hasEnded) = ([:], true)
    }
  }
}
