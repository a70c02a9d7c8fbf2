#if Server
  import Concord
  import ConcordSync

  /// The store that keeps the truth, whose feed is begun when it is first needed.
  final class PreparedStore: Sendable {
    /// The store, and its key.
    struct Found: Sendable {
      let store: PersistentStore
      let seal: SyncSeal
    }

    private let container: any PersistentContainer
    private let limits: SyncLimits
    private let live: LiveFeed
    private let found = Locked<Found?>(nil)

    init(_ container: any PersistentContainer, _ limits: SyncLimits, _ live: LiveFeed) {
      (self.container, self.limits, self.live) = (container, limits, live)
    }

    /// Begins the store's feed, once.
    func prepare() throws -> Found {
      try found.withLock { found in
        if let found { return found }
        let stores = container.persistentStoreCoordinator.persistentStores
        guard stores.count == 1, let store = stores.first else {
          throw StoreError.storeFailed(
            store: container.name, reason: "a server needs one attached store, and has \(stores.count)")
        }
        try store.rows.startFeed(limits.feed)
        let seal = SyncSeal(key: try SyncSeal.key(of: store.rows), isHiding: limits.hidesPositions)
        live.follow(store.rows, container.model)
        let prepared = Found(store: store, seal: seal)
        found = prepared
        return prepared
      }
    }
  }
#endif
