import Concord

/// A clock for tests, whose time passes only when a test advances it.
///
/// ```swift
/// let clock = VirtualClock()
/// let connect = GenericConnect<ContextStrategy.Mixed>(name: "Library", model: model, clock: clock)
/// await clock.sleepers(atLeast: 1)
/// clock.advance(by: .seconds(60))
/// ```
public final class VirtualClock: Clock {
  public struct Instant: InstantProtocol {
    /// The time since the clock was made.
    public var offset: Duration

    /// Creates an instant, by the time since the clock was made.
    public init(offset: Duration = .zero) { self.offset = offset }

    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    public func duration(to other: Instant) -> Duration { other.offset - offset }
    public static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
  }

  private struct Sleeper {
    let deadline: Instant
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now = Instant()
    var sleepers: [Int: Sleeper] = [:]
    var nextNumber = 0
    /// The sleepers that were cancelled before they slept.
    var cancelled: Set<Int> = []
    /// The tasks that wait for a number of sleepers.
    var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

    mutating func takeWaiting() -> [CheckedContinuation<Void, Never>] {
      let due = waiting.filter { $0.count <= sleepers.count }
      waiting.removeAll { $0.count <= sleepers.count }
      return due.map(\.continuation)
    }
  }

  private let state = Locked(State())

  /// Creates a clock that stands at zero.
  public init() {}

  public var now: Instant { state.withLock { $0.now } }
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// The number of sleeping tasks.
  public var sleepers: Int { state.withLock { $0.sleepers.count } }

  /// Returns when at least the given number of tasks sleep.
  public func sleepers(atLeast count: Int) async {
    await withCheckedContinuation { continuation in
      let due = state.withLock { state in
        state.waiting.append((count, continuation))
        return state.takeWaiting()
      }
      for continuation in due { continuation.resume() }
    }
  }

  public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let number = state.withLock { state in
      state.nextNumber += 1
      return state.nextNumber
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let (result, due) = state.withLock { state -> (Result<Void, any Error>?, [CheckedContinuation<Void, Never>]) in
          if state.cancelled.remove(number) != nil { return (.failure(CancellationError()), []) }
          if deadline <= state.now { return (.success(()), []) }
          state.sleepers[number] = Sleeper(deadline: deadline, continuation: continuation)
          return (nil, state.takeWaiting())
        }
        if let result { continuation.resume(with: result) }
        for continuation in due { continuation.resume() }
      }
    } onCancel: {
      let sleeper = state.withLock { state in
        let sleeper = state.sleepers.removeValue(forKey: number)
        if sleeper == nil { state.cancelled.insert(number) }
        return sleeper
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }

  /// Advances the time, and wakes the tasks whose time has come, in order.
  public func advance(by duration: Duration) {
    let due = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      let due = state.sleepers.filter { $0.value.deadline <= state.now }
      for number in due.keys { state.sleepers[number] = nil }
      return due.values.sorted { $0.deadline < $1.deadline }
    }
    for sleeper in due { sleeper.continuation.resume() }
  }

  /// Advances the time until the first sleeping task wakes.
  ///
  /// - Returns: the duration by which the time advanced; `nil` if no task sleeps.
  @discardableResult
  public func advanceToNextSleeper() -> Duration? {
    let step = state.withLock { state in
      state.sleepers.values.map(\.deadline).min().map { state.now.duration(to: $0) }
    }
    if let step { advance(by: step) }
    return step
  }
}
