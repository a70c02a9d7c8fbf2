/// The execution state of an action.
public enum ActionState: Sendable, Hashable {
  /// The action is not in a queue yet.
  case created
  /// The action waits in a queue.
  case pending
  /// The action runs.
  case executing
  /// The action has run, or never will.
  case finished
}

/// The result of an action's execution.
public enum ActionCompletionStatus: Sendable, Hashable {
  /// The action has not finished.
  case unknown
  /// The action returned.
  case successful
  /// The action was cancelled before it ended, or threw `CancellationError`.
  case canceled
  /// The action threw an error.
  case failed
}

/// Shows and controls an action that was given to a ``Connect``, from any thread.
///
/// ```swift
/// let proxy = try connect.execute(RefreshBooks())
/// await proxy.finished()
/// print(proxy.completionStatus, proxy.statistics.executionTime)
/// ```
public protocol ActionProxy: AnyObject, Sendable, CustomStringConvertible {
  /// The action's type.
  var actionType: any Action.Type { get }
  /// The execution state of the action.
  var state: ActionState { get }
  /// The result of the execution; `unknown` until the action has finished.
  var completionStatus: ActionCompletionStatus { get }
  /// The error that the action threw; `nil` if it threw none, or a `CancellationError`.
  var error: (any Error)? { get }
  /// The time and work that the action has used so far.
  var statistics: any ActionStatistics { get }

  /// Cancels the action: one that waits never runs, and the task of one that runs is cancelled. Nothing happens to one that has finished.
  func cancel()

  /// Returns when the action has finished, and its completion block and notices have run.
  ///
  /// - Returns: ``completionStatus``.
  @discardableResult
  func finished() async -> ActionCompletionStatus
}

extension ActionProxy {
  /// The type, the state and the statistics of the action: `RefreshBooks: successful, 0.012 s; 2 inserted, …`.
  public var description: String {
    switch state {
    case .created, .pending: "\(actionType): \(state)"
    case .executing: "\(actionType): \(state), \(statistics)"
    case .finished: "\(actionType): \(completionStatus)\(error.map { " (\($0))" } ?? ""), \(statistics)"
    }
  }
}
