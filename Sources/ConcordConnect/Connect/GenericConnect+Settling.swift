import Dispatch

extension GenericConnect {
  /// Returns when no action runs, or waits to run and is not held, and all of that has been told.
  package func actionsEnded() async {
    while scheduler.isBusy { await scheduler.ended() }
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { [notices] in
        notices.settle()
        continuation.resume()
      }
    }
  }

  /// Whether an action runs or waits to run, or something is left to be sent.
  package var hasWork: Bool { scheduler.isBusy || !outbox.state.withLock { $0.isIdle } }
}
