import Dispatch

/// Streams that all get the same elements, in one order, each from when it was made.
///
/// They get them on a queue, and under no lock. A task that reads a stream may be cancelled at that moment: then the runtime holds a lock of the
/// task while the stream ends, and the task is resumed under the same lock.
package final class EventStreams<Element: Sendable>: Sendable {
  private let queue: DispatchQueue
  private let state = Locked(State())
  private let capacity: Int

  private struct State {
    var streams: [Int: AsyncStream<Element>.Continuation] = [:]
    var lastNumber = 0
    var hasEnded = false
    /// The elements that the streams have not got yet, the oldest first, each with the number of the last stream that gets it.
    var waiting: [(element: Element, last: Int)] = []
    /// Whether the queue has been asked to give it to them.
    var isAsked = false
  }

  /// - Parameters:
  ///   - capacity: the number of elements, the newest ones, that a stream keeps for a slow reader, and twice of which wait for the queue.
  ///   - queue: where the streams get them. A serial queue.
  package init(keepingNewest capacity: Int, on queue: DispatchQueue = DispatchQueue(label: "concord.streams")) {
    (self.capacity, self.queue) = (capacity, queue)
  }

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
    let dropped: ArraySlice<(element: Element, last: Int)>? = state.withLock { state in
      if state.streams.isEmpty || state.hasEnded { return nil }
      state.waiting.append((element, state.lastNumber))
      askQueue(&state)
      if state.waiting.count <= 2 * capacity { return nil }
      // No stream would keep them.
      let dropped = state.waiting.prefix(state.waiting.count - capacity)
      state.waiting.removeFirst(dropped.count)
      return dropped
    }
    withExtendedLifetime(dropped) {}
  }

  /// Ends all streams, after what was sent so far.
  package func end() {
    state.withLock { state in
      state.hasEnded = true
      askQueue(&state)
    }
  }

  private func askQueue(_ state: inout State) {
    if state.isAsked { return }
    state.isAsked = true
    queue.async { self.give() }
  }

  /// Gives the streams what waits, until nothing does, on the queue.
  private func give() {
    while true {
      let (waiting, streams, isEnd) = state.withLock { state in
        let all = (state.waiting, state.streams, state.hasEnded)
        state.waiting = []
        if all.0.isEmpty { state.isAsked = false }
        if all.0.isEmpty, all.2 { state.streams = [:] }
        return all
      }
      if waiting.isEmpty {
        if isEnd { for (_, stream) in streams { stream.finish() } }
        return
      }
      for (element, last) in waiting {
        for (number, stream) in streams where number <= last { stream.yield(element) }
      }
    }
  }
}
