import Dispatch

extension GenericConnect {
  /// Returns when no action runs, waits to run and is not held, or is due by its schedule, and all of that has been told.
  ///
  /// - Throws: `CancellationError` if the task is cancelled meanwhile.
  package func actionsEnded() async throws {
    while hasActions {
      try Task.checkCancellation()
      await scheduler.ended()
      // A schedule whose interval has ended is about to wake.
      await Task.yield()
    }
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { [notices] in
        notices.settle()
        continuation.resume()
      }
    }
  }

  /// Schedules are asked first: due actions run by then, or have run.
  private var hasActions: Bool {
    schedules.isBehind || scheduler.isBusy || schedules.isExecuting && !scheduler.isHeld
  }

  /// Whether an action is due, runs or waits to run, or something is left to be sent.
  package var hasWork: Bool { hasActions || !outbox.state.withLock { $0.isIdle } }
}
