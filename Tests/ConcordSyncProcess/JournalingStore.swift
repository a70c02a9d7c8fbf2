#if Server
  import ConcordServer
  import Foundation

  /// A device's store that notes each state that it commits, before the next commit.
  ///
  /// A process may be killed between a commit and the note: the next one notes the state that it finds.
  final class JournalingStore: RowStore {
    private let store: any RowStore
    private let model: Model
    private let journal: Journal
    private let lock = NSRecursiveLock()
    private let last = Kept<DeviceMoment?>(nil)

    init(_ store: any RowStore, _ model: Model, _ journal: Journal) throws {
      (self.store, self.model, self.journal) = (store, model, journal)
      note(try DeviceMoment(store, model))
    }

    private func note(_ moment: DeviceMoment) {
      let isNew = last.withLock { last in
        defer { last = moment }
        return last != moment
      }
      if isNew { journal.write(moment) }
    }

    var name: String { store.name }
    func read<R>(_ body: (any RowReading) throws -> R) throws -> R { try store.read(body) }
    func write<R>(origin: ObjectIdentifier?, _ body: (any RowWriting) throws -> R) throws -> R {
      lock.lock()
      defer { lock.unlock() }
      let result = try store.write(origin: origin, body)
      // It is committed, whatever becomes of the reading.
      if let moment = try? DeviceMoment(store, model) { note(moment) }
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
