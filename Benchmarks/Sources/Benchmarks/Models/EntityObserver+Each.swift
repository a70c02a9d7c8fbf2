import Concord

extension EntityObserver {
  /// Is told each state on the store's queue, as the closures of the floors are.
  func observeEach(_ show: @escaping @Sendable (Value) -> Void) -> Subscription {
    observe(buffering: .every) { show($0) }
  }
}
