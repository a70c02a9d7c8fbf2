#if Server
  import Concord
  import Dispatch

  /// Looks whether the store can be read: once for all who ask meanwhile, on a thread of its own.
  final class StoreCheck: Sendable {
    private let queue = DispatchQueue(label: "concord.server.check")
    private let state = Locked(State())
    private let look: @Sendable () throws -> Void

    private struct State {
      var isLooking = false
      /// The requests that wait for the look that is under way, by their numbers.
      var waiting: [Int: AsyncStream<Bool>.Continuation] = [:]
      var lastNumber = 0
    }

    init(_ look: @escaping @Sendable () throws -> Void) { self.look = look }

    /// Whether the store can be read, within some time.
    func isReadable(within time: Duration) async -> Bool {
      let (answers, continuation) = AsyncStream<Bool>.makeStream(bufferingPolicy: .bufferingOldest(1))
      let (number, isFirst) = state.withLock { state in
        state.lastNumber += 1
        state.waiting[state.lastNumber] = continuation
        defer { state.isLooking = true }
        return (state.lastNumber, !state.isLooking)
      }
      // A store that says nothing must not collect all who have asked.
      defer { state.withLock { $0.waiting[number] = nil } }
      if isFirst {
        queue.async { [self] in
          let isReadable = (try? look()) != nil
          let waiting = state.withLock { state in
            defer { (state.isLooking, state.waiting) = (false, [:]) }
            return state.waiting
          }
          for continuation in waiting.values { continuation.yield(isReadable) }
        }
      }
      let deadline = Deadlines.shared.call(after: time) { continuation.yield(false) }
      defer { withExtendedLifetime(deadline) {} }
      for await answer in answers { return answer }
      return false
    }

    /// The number of those who wait.
    var waitingCount: Int { state.withLock { $0.waiting.count } }
  }
#endif
