import Concord
import ConcordModel
import Dispatch

@testable import ConcordPersistence

/// Keeps rows in memory, counts those that are read, and lets writes and readings fail.
final class CountingStore: RowStore {
  let inner = MemoryStore(name: "counting")
  let reads = Locked(0)
  let isFailing = Locked(false)
  let isUnreadable = Locked(false)
  /// The number of rows that are read until one cannot be read, once; `nil` for any number.
  let readable = Locked<Int?>(nil)
  /// What readings wait for, and how many do.
  let gate = Locked<DispatchSemaphore?>(nil)
  let waiting = Locked(0)
  var name: String { inner.name }

  func read<R>(_ body: (any RowReading) throws -> R) throws -> R {
    if let gate = gate.withLock({ $0 }) {
      waiting.withLock { $0 += 1 }
      gate.wait()
      gate.signal()
      waiting.withLock { $0 -= 1 }
    }
    if isUnreadable.withLock({ $0 }) { throw StoreError.locked(store: name) }
    return try inner.read { base in try body(CountingReading(base) { try self.count() }) }
  }
  private func count() throws {
    reads.withLock { $0 += 1 }
    let isReadable = readable.withLock { left in
      guard let number = left else { return true }
      left = number > 0 ? number - 1 : nil
      return number > 0
    }
    if !isReadable { throw StoreError.locked(store: name) }
  }
  func write<R>(origin: ObjectIdentifier?, _ body: (any RowWriting) throws -> R) throws -> R {
    if isFailing.withLock({ $0 }) { throw StoreError.locked(store: name) }
    return try inner.write(origin: origin, body)
  }
  func observeCommits(_ body: @escaping @Sendable (StoreCommit) -> Void) -> StoreObservation {
    inner.observeCommits(body)
  }
  func settle() { inner.settle() }
  func close() throws { try inner.close() }
}

private final class CountingReading: RowReading {
  private let base: any RowReading
  private let count: () throws -> Void

  init(_ base: any RowReading, _ count: @escaping () throws -> Void) { (self.base, self.count) = (base, count) }

  func row(of key: EntityKey) throws -> StoredRow? {
    try count()
    return try base.row(of: key)
  }
  func withRow<R>(of key: EntityKey, _ body: (RowSource) throws -> R) throws -> R? {
    try count()
    return try base.withRow(of: key, body)
  }
  func rows(_ query: RowQuery, _ body: (StoredValue, RowSource) throws -> Bool) throws {
    try base.rows(query) { key, source in
      try count()
      return try body(key, source)
    }
  }
  func count(_ query: RowQuery) throws -> Int { try base.count(query) }
  func referrers(to key: EntityKey, in entity: EntityDescription) throws -> [StoredValue] {
    try count()
    return try base.referrers(to: key, in: entity)
  }
}
