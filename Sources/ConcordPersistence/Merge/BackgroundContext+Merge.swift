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

  /// Makes the stored subset equal to the given objects, and saves it in one transaction; returns `nil` if that is not
  /// possible.
  package func mergeAndSave<T: PersistentEntity>(_ request: MergeRequest<T>) throws -> MergeOutcome? {
    try locked { try $0.mergeAndSave(request) }
  }
}
