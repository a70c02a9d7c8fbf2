#if Server
  import ConcordServer
  import Foundation

  /// A store that tells a closure of each state that it commits, before the next commit, also where no row has changed.
  final class NotingStore: RowStore {
    private let store: any RowStore
    private let note: @Sendable (any RowStore) -> Void
    private let lock = NSRecursiveLock()
    /// What each transaction goes through first. A test may let it fail.
    let gate = Kept<@Sendable (any RowWriting) throws -> any RowWriting>({ $0 })

    /// - Parameter note: a closure that receives the store as it is at first, and after each commit.
    init(_ store: any RowStore, _ note: @escaping @Sendable (any RowStore) -> Void = { _ in }) {
      (self.store, self.note) = (store, note)
      note(store)
    }

    var name: String { store.name }
    func read<R>(_ body: (any RowReading) throws -> R) throws -> R { try store.read(body) }
    func write<R>(origin: ObjectIdentifier?, _ body: (any RowWriting) throws -> R) throws -> R {
      lock.lock()
      defer { lock.unlock() }
      let gate = gate.withLock { $0 }
      let result = try store.write(origin: origin) { try body(gate($0)) }
      // It is committed, whatever becomes of the reading.
      note(store)
      return result
    }
    func observeCommits(_ body: @escaping @Sendable (StoreCommit) -> Void) -> StoreObservation {
      store.observeCommits(body)
    }
    func observeCommits(
      except origin: ObjectIdentifier, _ body: @escaping @Sendable (StoreCommit) -> Void
    ) -> StoreObservation { store.observeCommits(except: origin, body) }
    var unknownCommits: Int { store.unknownCommits }
    var isReachable: Bool { store.isReachable }
    func settle() { store.settle() }
    func synchronize() throws { try store.synchronize() }
    func giveBackSpace() throws { try store.giveBackSpace() }
    func holdOutbox() throws -> OutboxHold? { try store.holdOutbox() }
    func startFeed(_ limits: FeedLimits) throws { try store.startFeed(limits) }
    func trimFeed() throws -> Bool { try store.trimFeed() }
    func close() throws { try store.close() }
  }
#endif
