import Concord
import ConcordModel
public import Foundation

/// A store in memory, which works like a file, and is lost when it is released.
// Unchecked, because the compiler cannot see that `lock` guards `tables`, which only the session of who holds it uses.
public final class MemoryStore: RowStore, ExclusivelyWritten, BrieflyRead, @unchecked Sendable {
  public let name: String
  private let lock = NSRecursiveLock()
  private let tables = MemoryTables()
  private let feed = Feed<StoreCommit>(label: "concord.commits")
  private var isClosed = false
  private let isHeld = Locked(false)
  private let deletionTime: TimeInterval

  /// Creates an empty store; errors tell its name.
  ///
  /// - Parameters:
  ///   - name: the name of the store in errors.
  ///   - deletionTime: the time for which deletions are remembered, in seconds; see ``ConcordRememberedDeletionsOption``.
  public init(name: String, remembersDeletionsFor deletionTime: TimeInterval = 30 * 86_400) {
    self.name = name
    self.deletionTime = deletionTime
  }

  public func read<R>(_ body: (any RowReading) throws -> R) throws -> R {
    lock.lock()
    defer { lock.unlock() }
    return try look(body)
  }

  package func readSoon<R>(_ body: (any RowReading) throws -> R) throws -> R {
    guard lock.lock(before: Date(timeIntervalSinceNow: StoreIsTaken.wait)) else { throw StoreIsTaken(store: name) }
    defer { lock.unlock() }
    return try look(body)
  }

  /// Reads while the lock is held.
  private func look<R>(_ body: (any RowReading) throws -> R) throws -> R {
    try checkOpen()
    return try body(MemorySession(tables, remembersDeletions: deletionTime > 0))
  }

  public func write<R>(origin: ObjectIdentifier?, _ body: (any RowWriting) throws -> R) throws -> R {
    lock.lock()
    defer { lock.unlock() }
    return try transact(origin, body)
  }

  package func writeSoon<R>(origin: ObjectIdentifier?, _ body: (any RowWriting) throws -> R) throws -> R {
    guard lock.lock(before: Date(timeIntervalSinceNow: StoreIsTaken.wait)) else { throw StoreIsTaken(store: name) }
    defer { lock.unlock() }
    return try transact(origin, body)
  }

  /// Writes while the lock is held.
  private func transact<R>(_ origin: ObjectIdentifier?, _ body: (any RowWriting) throws -> R) throws -> R {
    try checkOpen()
    let session = MemorySession(tables, remembersDeletions: deletionTime > 0)
    do {
      let result = try body(session)
      if !session.noted.isEmpty {
        let count = session.noted.count * DeletionLimits.swept / DeletionLimits.sweep
        tables.deletions.forget(before: Date() - deletionTime, atMost: count)
      }
      session.addToFeed()
      if !session.undo.isEmpty { feed.tell(StoreCommit(keys: session.changedKeys, origin: origin)) }
      return result
    } catch {
      session.rollBack()
      throw error
    }
  }

  public func observeCommits(_ body: @escaping @Sendable (StoreCommit) -> Void) -> StoreObservation {
    feed.observe(body)
  }

  public func observeCommits(
    except origin: ObjectIdentifier, _ body: @escaping @Sendable (StoreCommit) -> Void
  ) -> StoreObservation {
    feed.observe(where: { $0.origin != origin }, body)
  }

  public func settle() { feed.settle() }

  public func holdOutbox() throws -> OutboxHold? {
    let wasHeld = isHeld.withLock { isHeld in
      defer { isHeld = true }
      return isHeld
    }
    return wasHeld ? nil : OutboxHold { [isHeld] in isHeld.withLock { $0 = false } }
  }

  public func startFeed(_ limits: FeedLimits) throws {
    lock.lock()
    defer { lock.unlock() }
    try checkOpen()
    if tables.feed == nil { tables.feed = MemoryFeed(limits) }
  }

  public func close() throws {
    lock.lock()
    defer { lock.unlock() }
    isClosed = true
    tables.rows = [:]
    tables.referrers = [:]
    tables.outbox = MemoryOutbox()
    tables.deletions = MemoryDeletions()
    tables.notes = MemoryNotes()
    tables.feed = nil
  }

  private func checkOpen() throws { if isClosed { throw StoreError.detached(store: name) } }
}
