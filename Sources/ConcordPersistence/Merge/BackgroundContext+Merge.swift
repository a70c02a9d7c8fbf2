package import ConcordModel

extension BackgroundContext {
  /// What a save would do now.
  package func pendingCounts() throws -> PendingCounts { try locked { try $0.pendingCounts() } }

  /// Makes the stored subset equal to what is given, without saving it.
  ///
  /// - Returns: how many entities it compared.
  package func merge<T: PersistentEntity>(_ request: MergeRequest<T>) throws -> Int {
    try locked { try $0.merge(request) }
  }

  /// The same, and saves it in one transaction; `nil` if that cannot be done.
  package func mergeAndSave<T: PersistentEntity>(_ request: MergeRequest<T>) throws -> MergeOutcome? {
    try locked { try $0.mergeAndSave(request) }
  }
}
