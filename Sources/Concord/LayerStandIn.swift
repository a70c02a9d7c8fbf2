/// Stands in for layers until they are here: what it shows stays.
public final class OptimisticLayer: Sendable {
  public enum State: Sendable { case pending, committed, rolledBack, dropped(any Error) }
  public var state: State { .pending }
  @discardableResult public func commit() -> Bool { true }
  public func rollBack() {}
}

extension EntityStore {
  package func optimistically(
    _ body: @escaping @Sendable (EntityStore) throws -> Void
  ) throws -> OptimisticLayer {
    try transaction { try body($0) }
    return OptimisticLayer()
  }

  package func optimisticallyWhenPossible(
    _ body: @escaping @Sendable (EntityStore) throws -> Void
  ) -> OptimisticLayer {
    try? transaction { try body($0) }
    return OptimisticLayer()
  }
}
