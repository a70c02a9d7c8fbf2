public import ConcordModel

extension BackgroundContext {
  /// Removes from its store what a rule does not keep of a type: at once, and not by the next save.
  ///
  /// ```swift
  /// let count = try context.purge(Article.self, keeping: .atMost(10_000))
  /// ```
  ///
  /// What is observed stays, and so does what is pending and what is contained in something that stays: see <doc:Lasting>. Unlike a
  /// deletion, a purge is not remembered: what it has removed can be stored again with its old stamp. Live queries that know a purged entity
  /// go on without it. The file gets smaller.
  ///
  /// - Returns: the number of removed entities.
  /// - Throws: ``/ConcordModel/StoreError``, such as ``/ConcordModel/StoreError/predicateFailed(entity:reason:)``, or if observers again
  ///   and again appear of what the purge is about to remove; then nothing is removed.
  /// - Complexity: the number of stored entities of the type.
  @discardableResult
  public func purge<T: PersistentEntity>(_ type: T.Type, keeping retention: Retention<T>) throws -> Int {
    guard let coordinator = locked({ $0.parent.coordinator }) else { throw StoreError.withoutCoordinator }
    return try coordinator.purge(type, keeping: retention).removed
  }
}

extension StoreError {
  static var withoutCoordinator: StoreError {
    .storeFailed(store: "of a context", reason: "the context's parents lead to no coordinator, which purges")
  }
}
