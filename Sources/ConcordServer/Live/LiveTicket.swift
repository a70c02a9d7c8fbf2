#if Server
  import Concord
  import Foundation
  import ServiceLifecycle

  /// The place of one waiting request, which is woken at most once.
  final class LiveTicket: Sendable {
    private enum State {
      case idle
      case woken
      case waiting(CheckedContinuation<Bool, Never>)
    }

    /// The call that has woken the request first.
    private struct Call {
      let seen: LiveFeed.Seen?
    }

    private let state = Locked(State.idle)
    private let call = Locked<Call?>(nil)
    private let replaced = Locked(false)
    private let end: @Sendable () -> Void

    init(end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }

    /// Whether something has woken it, also if it was too late.
    var isCalled: Bool { call.withLock { $0 != nil } }

    /// The commits that were looked at before the one that has woken the request.
    var seen: LiveFeed.Seen? { call.withLock { $0?.seen } }

    /// Whether a later request of the device has taken its place.
    var isReplaced: Bool { replaced.withLock { $0 } }

    func replace() {
      replaced.withLock { $0 = true }
      wake(after: nil)
    }

    /// - Parameter seen: what was looked at before, and did not concern it.
    func wake(after seen: LiveFeed.Seen?) {
      call.withLock { call in if call == nil { call = Call(seen: seen) } }
      resume(true)
    }

    private func resume(_ isWoken: Bool) {
      let continuation: CheckedContinuation<Bool, Never>? = state.withLock { state in
        defer { state = .woken }
        if case .waiting(let continuation) = state { return continuation }
        return nil
      }
      continuation?.resume(returning: isWoken)
    }

    /// - Returns: `false` if the time is over, or the task was cancelled, and nothing has woken it.
    func wait(for time: Duration, _ clock: ServiceClock = ServiceClock(ContinuousClock())) async -> Bool {
      let deadline = clock.call(after: time) { [weak self] in self?.resume(false) }
      defer { withExtendedLifetime(deadline) {} }
      return await withTaskCancellationOrGracefulShutdownHandler {
        await withCheckedContinuation { continuation in
          let isNow = state.withLock { state in
            if case .woken = state { return true }
            state = .waiting(continuation)
            return false
          }
          if isNow { continuation.resume(returning: !Task.isCancelled && !Task.isShuttingDownGracefully) }
        }
      } onCancelOrGracefulShutdown: {
        self.resume(false)
      }
    }
  }
#endif
