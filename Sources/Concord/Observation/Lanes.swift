import Dispatch

/// The ways by which a store's observers are called.
@usableFromInline struct Lanes: Sendable {
  /// The store's own: the queue it was made with, or at once.
  @usableFromInline let store: Lane
  /// The main queue, for observers on the main actor.
  @usableFromInline let main: Lane
  /// At once, for streams, which do not run user code.
  @usableFromInline let direct: Lane

  @usableFromInline init(_ delivery: EntityStore.Delivery) {
    direct = Lane(nil)
    switch delivery {
    case .immediate:
      store = Lane(nil)
      main = Lane(.main)
    case .queue(let queue):
      store = Lane(queue)
      main = queue === DispatchQueue.main ? store : Lane(.main)
    }
  }

  /// Delivers what waits. Call without any lock.
  @inlinable @inline(__always) func deliver() {
    if store.hasWork { store.deliver() }
    if direct.hasWork { direct.deliver() }
    if main !== store, main.hasWork { main.deliver() }
  }
}
