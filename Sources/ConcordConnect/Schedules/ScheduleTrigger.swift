/// A condition that starts a scheduled action.
public enum ScheduleTrigger: Sendable, Hashable {
  /// At each start, and at once if it is started.
  case atStart
  /// Again and again, the first time after as long. An interval takes a millisecond at least.
  case every(Duration)
  /// The network becomes reachable.
  case whenReachable
}

/// An action that says itself when it is executed: `connect.schedule(SyncBooks())`.
public protocol ScheduledAction: Action, Sendable {
  /// The triggers that execute the action.
  var schedule: [ScheduleTrigger] { get }
}

/// An action that is executed by itself, until it is cancelled or its ``Connect`` is released.
public final class Schedule: Sendable {
  private let end: @Sendable () -> Void

  init(_ end: @escaping @Sendable () -> Void) { self.end = end }

  /// Cancels the schedule. What runs goes on.
  public func cancel() { end() }
}
