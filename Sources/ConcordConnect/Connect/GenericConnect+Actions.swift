import Concord
import ConcordPersistence

/// An action that was sent to the connect.
// Unchecked, because the action need not be `Sendable`: it was sent, so that the caller no longer has it. `execute` is
// called once, in one task, and `cancel` beside it, as ``Action/cancel()`` documents.
private struct HandedOver<A>: @unchecked Sendable {
  let action: A
}

extension GenericConnect {
  @discardableResult
  public func execute<A: GenericAction>(
    _ action: sending A, completionBlock: (@Sendable (any ActionProxy) -> Void)?
  ) throws -> any ActionProxy {
    let handed = HandedOver(action: action)
    let work = ActionExecution.Work(
      execute: { _ in try await handed.action.execute() }, cancel: { handed.action.cancel() })
    return try enqueue(
      ActionExecution(A.self, isEntityAction: false, notices: notices, work: work, completion: completionBlock),
      .generic)
  }

  @discardableResult
  public func execute<A: EntityAction>(
    _ action: sending A, completionBlock: (@Sendable (any ActionProxy) -> Void)?
  ) throws -> any ActionProxy {
    let entity = try managedEntity(A.ManagedObjectType.self)
    let handed = HandedOver(action: action)
    let work = ActionExecution.Work(
      execute: { [container] execution in
        let context: ActionContext = container.newGenericBackgroundContext()
        execution.use(context.meter)
        try await handed.action.execute(context: context)
      }, cancel: { handed.action.cancel() })
    return try enqueue(
      ActionExecution(A.self, isEntityAction: true, notices: notices, work: work, completion: completionBlock),
      .entity(entity))
  }

  private func enqueue(_ execution: ActionExecution, _ line: ActionScheduler.Line) throws -> any ActionProxy {
    guard scheduler.enqueue(execution, line) else {
      throw Errors.notStarted("'\(name)' is not started, so it executes no \(execution.actionType)")
    }
    return execution
  }

  /// The description of a type, if actions may work on it.
  private func managedEntity(_ type: any PersistentEntity.Type) throws -> EntityDescription {
    if type.entityName.isEmpty { throw Errors.missingEntityName("\(type) has no name") }
    guard let entity = try? model.entity(type) else {
      throw Errors.unmanagedEntity("Entity '\(type.entityName)' not managed by Connect '\(name)'")
    }
    // Otherwise its first merge would throw.
    if type is any ManagedEntity.Type { _ = try entity.uniqueness() }
    return entity
  }

  public var suspended: Bool {
    get { scheduler.isHeld(.byUser) }
    set {
      scheduler.set(.byUser, newValue)
      outbox.set(.byUser, newValue)
    }
  }

  public var maximumConcurrentActions: Int {
    get { scheduler.limit }
    set { scheduler.limit = newValue }
  }

  public var actionEvents: AsyncStream<ActionEvent> { notices.stream() }

  public func refuseInAction(_ function: String) throws {
    if Outbox.current === outbox {
      throw Errors.calledFromAction("an action that is being sent calls \(function) of '\(name)', which waits for it")
    }
    guard let current = ActionExecution.current, current.notices === notices, current.state == .executing else {
      return
    }
    throw Errors.calledFromAction(
      "\(current.actionType) calls \(function) of '\(name)', which waits for its actions to end")
  }
}
