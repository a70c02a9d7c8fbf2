package import ConcordModel

extension BackgroundContext {
  /// Returns the numbers of changes that a save would make now.
  package func pendingCounts() throws -> PendingCounts { try locked { try $0.pendingCounts() } }

  /// Makes the stored subset equal to the given objects, as unsaved changes.
  ///
  /// - Returns: the number of entities that were compared.
  package func merge<T: PersistentEntity>(_ request: MergeRequest<T>) throws -> Int {
    try locked { try $0.merge(request) }
  }

  /// Runs a closure with exclusive use of the context. If it throws, the unsaved changes are again those from before.
  package func keepingChangesIfFailing<R>(_ body: () throws -> R) throws -> R {
    try locked { core in
      // Otherwise the closure would do it, and it would be undone with the rest.
      if !core.pending.isEmpty { try core.reconcile(with: Set(core.pending.entities)) }
      let before = core.pending
      do { return try body() } catch {
        core.pending = before
        throw error
      }
    }
  }

  /// Makes the stored subset equal to the given objects, and saves it in one transaction; returns `nil` if that is not
  /// possible.
  package func mergeAndSave<T: PersistentEntity>(_ request: MergeRequest<T>) throws -> MergeOutcome? {
    try locked { try $0.mergeAndSave(request) }
  }
}
