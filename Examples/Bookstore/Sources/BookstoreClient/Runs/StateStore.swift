import ConcordSync
import Foundation

/// A store that passes each state that it has had to a closure, before another one comes: when it is opened, and after each commit of this process.
final class StateStore: RowStore {
  private let store: any RowStore
  private let tell: @Sendable (any RowReading) -> Void
  /// Held from a write until its state is told.
  private let lock = NSRecursiveLock()

  init(_ store: any RowStore, tell: @escaping @Sendable (any RowReading) -> Void) {
    (self.store, self.tell) = (store, tell)
    try? store.read { tell($0) }
  }

  var name: String { store.name }
  var unknownCommits: Int { store.unknownCommits }
  func read<R>(_ body: (any RowReading) throws -> R) throws -> R { try store.read(body) }
  func write<R>(origin: ObjectIdentifier?, _ body: (any RowWriting) throws -> R) throws -> R {
    lock.lock()
    defer { lock.unlock() }
    let result = try store.write(origin: origin, body)
    try? store.read { tell($0) }
    return result
  }
  func observeCommits(_ body: @escaping @Sendable (StoreCommit) -> Void) -> StoreObservation {
    store.observeCommits(body)
  }
  func settle() { store.settle() }
  func synchronize() throws { try store.synchronize() }
  func holdOutbox() throws -> OutboxHold? { try store.holdOutbox() }
  func startFeed(_ limits: FeedLimits) throws { try store.startFeed(limits) }
  func trimFeed() throws -> Bool { try store.trimFeed() }
  func close() throws { try store.close() }
}
