#if Server
  import Concord

  /// The clock of a service's waits and rates: the system's, or one that a test moves.
  struct ServiceClock: Sendable {
    private let elapsed: (@Sendable () -> Duration)?
    private let sleep: @Sendable (Duration) async throws -> Void
    private let start = ContinuousClock.now

    init(_ clock: any Clock<Duration>) {
      func elapsed<C: Clock<Duration>>(of clock: C) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
      }
      self.elapsed = clock is ContinuousClock ? nil : elapsed(of: clock)
      sleep = { try await clock.sleep(for: $0) }
    }

    var now: ContinuousClock.Instant { elapsed.map { start + $0() } ?? .now }

    /// Returns after some time, or when the task is cancelled.
    func sleep(for duration: Duration) async { try? await sleep(max(.zero, duration)) }

    /// Calls a closure after some time, unless the result is released before.
    func call(after duration: Duration, _ body: @escaping @Sendable () -> Void) -> any Sendable & AnyObject {
      if elapsed == nil { return Deadlines.shared.call(after: duration, body) }
      return Sleep(
        Task { [sleep] in
          // One that is cancelled has ended before its time.
          if (try? await sleep(duration)) != nil { body() }
        })
    }

    private final class Sleep: Sendable {
      private let task: Task<Void, Never>
      init(_ task: Task<Void, Never>) { self.task = task }
      deinit { task.cancel() }
    }
  }
#endif
