import Synchronization

/// A page that listens, and what it has not been told yet: one message, however slowly it reads, since what is newer takes the place
/// of what is older.
final class PageListener: Sendable {
  private struct State {
    var waiting: PageMessage?
    var wake: AsyncStream<Void>.Continuation?
  }

  private let state: Mutex<State>
  private let didEnd: @Sendable () -> Void

  /// - Parameters:
  ///   - first: what it is told at first.
  ///   - didEnd: called when nobody reads it any longer.
  init(_ first: PageMessage, didEnd: @escaping @Sendable () -> Void) {
    state = Mutex(State(waiting: first))
    self.didEnd = didEnd
  }

  deinit { didEnd() }

  func tell(_ message: PageMessage) {
    state.withLock { state in
      state.waiting = state.waiting.map { $0.updated(with: message) } ?? message
      state.wake?.yield()
    }
  }

  /// What is to be told now.
  func take() -> PageMessage? {
    state.withLock { state in
      defer { state.waiting = nil }
      return state.waiting
    }
  }

  /// Lets the reader look whether there is something.
  func wake() { _ = state.withLock { $0.wake?.yield() } }

  /// Ends the reading.
  func end() { state.withLock { $0.wake }?.finish() }

  /// Says when there may be something to be told, to one reader.
  var wakes: AsyncStream<Void> {
    let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    state.withLock { $0.wake = continuation }
    continuation.yield()
    return stream
  }
}
