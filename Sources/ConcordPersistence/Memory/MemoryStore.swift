import Concord
import ConcordModel
import Foundation

/// A store in memory, which works like a file, and is lost when it is released.
// Unchecked, because the compiler cannot see that `lock` guards `tables`, which only the session of who holds it uses.
public final class MemoryStore: RowStore, @unchecked Sendable {
  public let name: String
  private let lock = NSRecursiveLock()
  private let tables = MemoryTables()
  private let feed = Feed<StoreCommit>(label: "concord.commits")
  private var isClosed = false
  private let isHeld = Locked(false)

  /// Creates an empty store; errors tell its name.
  public init(name: String) { self.name = name }

  public func read<R>(_ body: (any RowReading) throws -> R) throws -> R {
    lock.lock()
    defer { lock.unlock() }
    try checkOpen()
    return try body(MemorySession(tables))
  }

  public func write<R>(origin: ObjectIdentifier?, _ body: (any RowWriting) throws -> R) throws -> R {
    lock.lock()
    defer { lock.unlock() }
    try checkOpen()
    let session = MemorySession(tables)
    do {
      let result = try body(session)
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

  public func close() throws {
    lock.lock()
    defer { lock.unlock() }
    isClosed = true
    tables.rows = [:]
    tables.referrers = [:]
    tables.outbox = MemoryOutbox()
  }

  private func checkOpen() throws { if isClosed { throw StoreError.detached(store: name) } }
}
