/// A condition that starts a scheduled action.
public enum ScheduleTrigger: Sendable, Hashable {
  /// Each start of the connect, and the moment of scheduling if the connect is started.
  case atStart
  /// An interval, again and again, the first time when as long has passed. An interval takes a millisecond at least.
  case every(Duration)
  /// Each moment at which the network becomes reachable.
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
