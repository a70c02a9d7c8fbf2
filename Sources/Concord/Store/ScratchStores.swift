/// Stores for short work that leaves nothing behind: an empty one is used again, since making one and its tables costs more than
/// such work does.
package final class ScratchStores: Sendable {
  private let idle = Locked<SharedCore?>(nil)

  package init() {}

  /// Calls a closure with an empty store, which delivers on the writing thread and takes unstamped writes always.
  package func withStore<R>(_ body: (EntityStore) throws -> R) rethrows -> R {
    var shared =
      idle.withLock { $0.take() }
      ?? SharedCore(queue: nil, clock: StampClock(.unstampedWritesWin), logger: nil)
    defer {
      // What the closure kept may still be used: then the store is left to it.
      if isKnownUniquelyReferenced(&shared), shared.isEmpty { idle.withLock { [shared] in $0 = shared } }
    }
    return try body(EntityStore(shared, token: 0))
  }
}

extension SharedCore {
  /// Whether no entity is stored or awaited, and no layer is shown.
  fileprivate var isEmpty: Bool {
    readCommitted { core in
      !core.layers.isActive && !core.hubs.isWanted
        && core.graph.allTables.allSatisfy { $0.isOfHubs || ($0.index.count == 0 && !$0.isAwaiting) }
    }
  }
}
