import Concord

extension EntityObserver {
  /// Is told each state on the store's queue, as the closures of the floors are.
  func observeEach(_ show: @escaping @Sendable (Value) -> Void) -> Subscription {
    #if CONCORD_NEW
      observe(buffering: .every) { show($0) }
    #else
      observe { show($0) }
    #endif
  }
}
