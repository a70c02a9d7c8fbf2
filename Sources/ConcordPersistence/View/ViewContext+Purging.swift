public import ConcordModel

extension ViewContext {
  /// Removes from its store what a rule does not keep of a type. See ``BackgroundContext/purge(_:keeping:)``.
  @discardableResult
  public func purge<T: PersistentEntity>(_ type: T.Type, keeping retention: Retention<T>) throws -> Int {
    guard let coordinator = home else { throw StoreError.withoutCoordinator }
    return try coordinator.purge(type, keeping: retention).removed
  }
}

extension ViewContext: RetentionGuard {
  package func pendingKeys() -> Set<EntityKey> { locked { core.pending.neededKeys(in: core.model) } }
  package func presentKeys() -> Set<EntityKey> { core.unsavedKeys }
  package func isObserved(_ key: EntityKey) -> Bool { isShown(key) }
}

extension ContextParent {
  /// The coordinator at the end of the chain of parents; `nil` if a strategy has parents of its own kind.
  var coordinator: PersistentStoreCoordinator? {
    switch self {
    case let coordinator as PersistentStoreCoordinator: coordinator
    case let root as RootContext: root.parent
    case let view as ViewContext: view.home
    default: nil
    }
  }
}
