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

    private let state = Locked(State.idle)
    private let called = Locked(false)
    private let replaced = Locked(false)
    private let end: @Sendable () -> Void

    init(end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }

    /// Whether something has woken it, also if it was too late.
    var isCalled: Bool { called.withLock { $0 } }

    /// Whether a later request of the device has taken its place.
    var isReplaced: Bool { replaced.withLock { $0 } }

    func replace() {
      replaced.withLock { $0 = true }
      wake()
    }

    func wake() {
      called.withLock { $0 = true }
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
    func wait(for time: Duration) async -> Bool {
      let timer = Task { [weak self] in
        try? await Task.sleep(for: time)
        self?.resume(false)
      }
      defer { timer.cancel() }
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
