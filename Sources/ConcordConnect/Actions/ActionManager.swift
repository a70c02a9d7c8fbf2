import ConcordPersistence

/// Executes actions.
public protocol ActionManager: AnyObject, Sendable {
  /// Executes an action, beside others: 5 at a time, unless ``maximumConcurrentActions`` says otherwise.
  ///
  /// - Parameters:
  ///   - action: is handed over, so that it need not be `Sendable`.
  ///   - completionBlock: called once when the action has finished, however it ended. Completion blocks, notifications and
  ///     ``actionEvents`` come one after another, on no thread in particular.
  /// - Throws: ``Errors/notStarted(_:)``.
  @discardableResult
  func execute<A: GenericAction>(
    _ action: sending A, completionBlock: (@Sendable (any ActionProxy) -> Void)?
  ) throws -> any ActionProxy

  /// Executes an action after those for the same type of entities that were given before.
  ///
  /// - Throws: ``Errors/notStarted(_:)``, and ``Errors/unmanagedEntity(_:)`` if the type is not in the model.
  @discardableResult
  func execute<A: EntityAction>(
    _ action: sending A, completionBlock: (@Sendable (any ActionProxy) -> Void)?
  ) throws -> any ActionProxy

  /// Whether actions wait: none begins, what runs goes on.
  var suspended: Bool { get set }

  /// How many generic actions run at a time at most: at least 1, and 5 unless set.
  var maximumConcurrentActions: Int { get set }

  /// What happens to actions from now on. Each call gives a stream of its own, which ends when the manager is released.
  var actionEvents: AsyncStream<ActionEvent> { get }

  /// Executes an action by itself, when one of the triggers says so. They may also be given one by one.
  @discardableResult
  func schedule<A: GenericAction & Sendable>(_ action: A, _ triggers: [ScheduleTrigger]) -> Schedule
  /// The same for work on entities.
  @discardableResult
  func schedule<A: EntityAction & Sendable>(_ action: A, _ triggers: [ScheduleTrigger]) -> Schedule

  /// Throws if an action of this manager calls.
  func refuseInAction(_ function: String) throws
}

extension ActionManager {
  /// Executes an action on the concurrent queue.
  @discardableResult
  public func execute<A: GenericAction>(_ action: sending A) throws -> any ActionProxy {
    try execute(action, completionBlock: nil)
  }

  /// Executes an action on the serial queue of its entity's type.
  @discardableResult
  public func execute<A: EntityAction>(_ action: sending A) throws -> any ActionProxy {
    try execute(action, completionBlock: nil)
  }
}
