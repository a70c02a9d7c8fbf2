#if Server
  import Concord
  import Dispatch

  /// Looks whether the store can be read: once for all who ask meanwhile, on a thread of its own.
  final class StoreCheck: Sendable {
    private let queue = DispatchQueue(label: "concord.server.check")
    /// Those who wait for the look that is under way; `nil` if none is.
    private let waiting = Locked<[AsyncStream<Bool>.Continuation]?>(nil)
    private let look: @Sendable () throws -> Void

    init(_ look: @escaping @Sendable () throws -> Void) { self.look = look }

    /// Whether the store can be read, within some time.
    func isReadable(within time: Duration) async -> Bool {
      let (answers, continuation) = AsyncStream<Bool>.makeStream(bufferingPolicy: .bufferingOldest(1))
      let isFirst = waiting.withLock { waiting in
        defer { waiting = (waiting ?? []) + [continuation] }
        return waiting == nil
      }
      if isFirst {
        queue.async { [self] in
          let isReadable = (try? look()) != nil
          let waiting = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting ?? []
          }
          for continuation in waiting { continuation.yield(isReadable) }
        }
      }
      let deadline = Deadlines.shared.call(after: time) { continuation.yield(false) }
      defer { withExtendedLifetime(deadline) {} }
      for await answer in answers { return answer }
      return false
    }
  }
#endif
