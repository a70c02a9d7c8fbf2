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
  /// If the action cannot be executed, since its type of entities is not in the model, the error block of the ``Connect`` receives the
  /// reason, once.
  ///
  /// - Parameters:
  ///   - action: the action, which is executed many times, and so has to be `Sendable`.
  ///   - triggers: the triggers, each of which executes the action.
  /// - Returns: the schedule, which ``Schedule/cancel()`` ends. It goes on if the result is released.
  @discardableResult
  public func schedule<A: GenericAction & Sendable>(_ action: A, _ triggers: ScheduleTrigger...) -> Schedule {
    schedule(action, triggers)
  }

  /// Executes an action on entities each time one of the triggers fires.
  @discardableResult
  public func schedule<A: EntityAction & Sendable>(_ action: A, _ triggers: ScheduleTrigger...) -> Schedule {
    schedule(action, triggers)
  }

  /// Executes an action each time one of its own triggers fires.
  @discardableResult
  public func schedule<A: GenericAction & ScheduledAction>(_ action: A) -> Schedule {
    schedule(action, action.schedule)
  }

  /// Executes an action each time one of its own triggers fires.
  @discardableResult
  public func schedule<A: EntityAction & ScheduledAction>(_ action: A) -> Schedule { schedule(action, action.schedule) }
}
