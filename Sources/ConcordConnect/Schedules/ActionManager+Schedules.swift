extension ActionManager {
  /// Executes an action by itself: at each start, in intervals, when the network returns.
  ///
  /// ```swift
  /// connect.schedule(SyncBooks(), .atStart, .every(.seconds(60)), .whenReachable)
  /// ```
  ///
  /// No two scheduled actions of one type run at once: one whose own interval ends while it runs is left out then, any other is
  /// executed afterwards, once for each schedule. Schedules rest while their manager is stopped.
  ///
  /// The action is executed many times, so that it has to be `Sendable`.
  ///
  /// - Returns: what ends it. It goes on without.
  @discardableResult
  public func schedule<A: GenericAction & Sendable>(_ action: A, _ triggers: ScheduleTrigger...) -> Schedule {
    schedule(action, triggers)
  }

  /// The same for work on entities.
  @discardableResult
  public func schedule<A: EntityAction & Sendable>(_ action: A, _ triggers: ScheduleTrigger...) -> Schedule {
    schedule(action, triggers)
  }

  /// The same for an action that says itself when.
  @discardableResult
  public func schedule<A: GenericAction & ScheduledAction>(_ action: A) -> Schedule {
    schedule(action, action.schedule)
  }

  /// The same for an action that says itself when.
  @discardableResult
  public func schedule<A: EntityAction & ScheduledAction>(_ action: A) -> Schedule { schedule(action, action.schedule) }
}
