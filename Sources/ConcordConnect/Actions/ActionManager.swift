import ConcordPersistence

/// A manager that executes actions.
public protocol ActionManager: AnyObject, Sendable {
  /// Executes an action concurrently with other actions, 5 at a time by default (``maximumConcurrentActions``).
  ///
  /// - Parameters:
  ///   - action: the action, which is sent, so that it need not be `Sendable`.
  ///   - completionBlock: a closure that is called once when the action has succeeded, failed or been cancelled. Completion blocks, notifications and ``actionEvents`` come one at a time, on no particular thread.
  /// - Throws: ``Errors/notStarted(_:)``.
  @discardableResult
  func execute<A: GenericAction>(
    _ action: sending A, completionBlock: (@Sendable (any ActionProxy) -> Void)?
  ) throws -> any ActionProxy

  /// Executes an action after those for the same type of entities that were given before.
  ///
  /// - Parameters:
  ///   - action: the action, which is sent, so that it need not be `Sendable`.
  ///   - completionBlock: a closure that is called once when the action has succeeded, failed or been cancelled, as for a
  ///     ``GenericAction``.
  /// - Throws: ``Errors/notStarted(_:)``, and ``Errors/unmanagedEntity(_:)`` if the type is not in the model.
  @discardableResult
  func execute<A: EntityAction>(
    _ action: sending A, completionBlock: (@Sendable (any ActionProxy) -> Void)?
  ) throws -> any ActionProxy

  /// Whether actions wait: none begins, what runs goes on.
  var suspended: Bool { get set }

  /// The maximum number of generic actions that run at a time: at least 1, and 5 by default.
  var maximumConcurrentActions: Int { get set }

  /// The events of actions from now on. Each call returns a new stream, which ends when the manager is released.
  ///
  /// For a slow reader a stream keeps the last 1,024 events, and drops earlier ones.
  var actionEvents: AsyncStream<ActionEvent> { get }

  /// Executes an action each time one of the triggers fires. The triggers may also be passed as separate arguments.
  ///
  /// - Parameters:
  ///   - action: the action, which is executed again and again, and so has to be `Sendable`.
  ///   - triggers: the triggers, such as an interval, the start, or the return of the network.
  /// - Returns: the schedule, which ``Schedule/cancel()`` ends. It goes on if the result is released.
  @discardableResult
  func schedule<A: GenericAction & Sendable>(_ action: A, _ triggers: [ScheduleTrigger]) -> Schedule
  /// Executes an action on entities each time one of the triggers fires.
  @discardableResult
  func schedule<A: EntityAction & Sendable>(_ action: A, _ triggers: [ScheduleTrigger]) -> Schedule

  /// Throws an error if an action of this manager calls, for a function that waits for the end of all actions, and so
  /// would wait for ever.
  ///
  /// - Parameter function: the name of that function, for the text of the error.
  /// - Throws: ``Errors/calledFromAction(_:)``.
  func refuseInAction(_ function: String) throws
}

extension ActionManager {
  /// Executes an action on the concurrent queue.
  ///
  /// - Throws: ``Errors/notStarted(_:)``.
  @discardableResult
  public func execute<A: GenericAction>(_ action: sending A) throws -> any ActionProxy {
    try execute(action, completionBlock: nil)
  }

  /// Executes an action on the serial queue of its entity's type.
  ///
  /// - Throws: ``Errors/notStarted(_:)``, and ``Errors/unmanagedEntity(_:)`` if the type is not in the model.
  @discardableResult
  public func execute<A: EntityAction>(_ action: sending A) throws -> any ActionProxy {
    try execute(action, completionBlock: nil)
  }
}
