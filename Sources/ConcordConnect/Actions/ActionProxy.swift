/// How far an action has come.
public enum ActionState: Sendable, Hashable {
  /// It is not in a queue yet.
  case created
  /// It waits in a queue.
  case pending
  /// It runs.
  case executing
  /// It has run, or never will.
  case finished
}

/// How an action ended.
public enum ActionCompletionStatus: Sendable, Hashable {
  /// It has not.
  case unknown
  /// It returned.
  case successful
  /// It was cancelled before it ended, or threw `CancellationError`.
  case canceled
  /// It threw.
  case failed
}

/// Shows and controls an action that was given to a ``Connect``, from any thread.
///
/// ```swift
/// let proxy = try connect.execute(RefreshBooks())
/// await proxy.finished()
/// print(proxy.completionStatus, proxy.statistics.executionTime)
/// ```
public protocol ActionProxy: AnyObject, Sendable {
  /// The action's type.
  var actionType: any Action.Type { get }
  /// The execution state of the action.
  var state: ActionState { get }
  /// How it ended; `unknown` until it has.
  var completionStatus: ActionCompletionStatus { get }
  /// What it threw; `nil` if it threw nothing, or a `CancellationError`.
  var error: (any Error)? { get }
  /// What it has cost so far.
  var statistics: any ActionStatistics { get }

  /// Cancels it: one that waits never runs, and the task of one that runs is cancelled. Nothing happens to one that has finished.
  func cancel()

  /// Returns when it has finished, and its completion block and notices have run.
  ///
  /// - Returns: ``completionStatus``.
  @discardableResult
  func finished() async -> ActionCompletionStatus
}
