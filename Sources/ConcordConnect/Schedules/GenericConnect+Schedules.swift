import Concord

extension GenericConnect {
  @discardableResult
  public func schedule<A: GenericAction & Sendable>(_ action: A, _ triggers: [ScheduleTrigger]) -> Schedule {
    schedules.add(A.self, triggers) { [weak self] whenFinished in
      guard let self else { throw CancellationError() }
      try execute(action) { _ in whenFinished() }
    }
  }

  @discardableResult
  public func schedule<A: EntityAction & Sendable>(_ action: A, _ triggers: [ScheduleTrigger]) -> Schedule {
    schedules.add(A.self, triggers) { [weak self] whenFinished in
      guard let self else { throw CancellationError() }
      try execute(action) { _ in whenFinished() }
    }
  }
}
