import Concord
public import ConcordConnect

extension GenericPersistentContainer {
  /// Returns when all that was saved is in the stores, the view shows it, and those who observe it were told.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if something cannot be written.
  public func settled() async throws {
    try await flush()
    await viewContext.store.settled()
  }
}

extension GenericConnect {
  /// Returns when no action runs or waits to run, nothing is left to be sent, all that was saved is in the stores, the view shows it,
  /// and those who observe it were told. An action that waits while the connect is suspended is not waited for.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if something cannot be written.
  public func settled() async throws {
    repeat {
      await actionsEnded()
      await outbox.idle()
      try await flush()
      await viewContext.store.settled()
    } while hasWork
  }
}
