package import Concord

final class OptimisticLayer: Sendable {
  func commit() {}
  func rollBack() {}
}

extension EntityStore {
  func optimistically(_ body: @escaping @Sendable (EntityStore) throws -> Void) throws -> OptimisticLayer {
    try body(self)
    return OptimisticLayer()
  }
}
