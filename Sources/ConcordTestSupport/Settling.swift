import Concord
public import ConcordConnect

extension GenericPersistentContainer {
  /// Returns when all saves are in the stores, the view shows them, and observers were notified. Saves that observers make
  /// are waited for, too.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if something cannot be written; `CancellationError` if the task is cancelled meanwhile.
  public func settled() async throws {
    var generation: Int
    repeat {
      try Task.checkCancellation()
      generation = viewContext.generation
      try await flush()
      await viewContext.store.settled()
    } while viewContext.generation != generation
  }
}

extension GenericConnect {
  /// Returns when no action runs or waits to run, nothing is left to be sent, all saves are in the stores, the view shows
  /// them, and observers were notified.
  ///
  /// Saves and actions that observers start are waited for, too. An action that waits while the connect is suspended is not.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if something cannot be written; `CancellationError` if the task is cancelled meanwhile;
  ///   `Errors.calledFromAction` if an action calls it, which would wait for itself.
  public func settled() async throws {
    try refuseInAction("settled()")
    var generation: Int
    repeat {
      try Task.checkCancellation()
      generation = viewContext.generation
      try await actionsEnded()
      await outbox.idle()
      try await flush()
      await viewContext.store.settled()
    } while hasWork || viewContext.generation != generation
  }
}
