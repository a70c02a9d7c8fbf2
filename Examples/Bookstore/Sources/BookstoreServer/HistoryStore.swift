import BookstoreShared
import ConcordPersistence
import Foundation
import Synchronization

/// A store that writes down what each commit has changed before anybody can see it, so that what devices show can be compared with it.
///
/// Each line has the position of the feed before, and the one after; the rows that differ, `null` where one was removed; and by customer
/// the keys of the actions whose effects are there since. The first line has no position before, and all rows. What other programs and servers
/// have committed is written down by whoever reads it first, in one line for all of it: no state is read before a line ends at its position.
final class HistoryStore: RowStore {
  /// A line of the file.
  private struct Entry: Codable {
    var from: String?
    var to: String
    var rows: [RowRecord]
    var accepted: [String: [String]]
  }

  private struct State {
    var position: StorePosition?
    var accepted: [String: Set<String>] = [:]
    var customers: Set<String> = []
    /// Whether this store is within a transaction of its own, which nobody else can see yet.
    var isWriting = false
  }

  private let store: any RowStore
  private let model: Model
  private let file: LineFile
  private let state: Mutex<State>
  /// Held from a write until it is written down, and by readers.
  private let lock = NSRecursiveLock()

  init(_ store: any RowStore, _ model: Model, file url: URL) throws {
    (self.store, self.model) = (store, model)
    var state = State()
    for line in (try? Data(contentsOf: url))?.split(separator: 0x0A) ?? [] {
      let entry = try JSONDecoder().decode(Entry.self, from: line)
      state.position = StorePosition(rawValue: entry.to)
      for (customer, keys) in entry.accepted { state.accepted[customer, default: []].formUnion(keys) }
    }
    state.customers = Set(state.accepted.keys)
    self.state = Mutex(state)
    file = try LineFile(url)
    try store.startFeed()
    try locked { try record() }
  }

  /// Writes down what is there of a customer who was not heard of before.
  func know(_ customer: String) {
    guard state.withLock({ $0.customers.insert(customer).inserted }) else { return }
    try? locked { try record() }
  }

  private func record() throws { try store.read { try record($0) } }

  /// Writes down the state that a reading sees.
  private func record(_ reading: any RowReading) throws {
    let position = try reading.position()
    let known = state.withLock { $0 }
    let changes = try known.position.flatMap { try reading.changes(since: $0) }
    var entry = Entry(
      from: changes == nil ? nil : known.position?.rawValue, to: position.rawValue, rows: [], accepted: [:])
    if let changes {
      entry.rows = try changes.rows.map { RowRecord($0.key, try reading.row(of: $0.key)) }
    } else {
      entry.rows = try RowRecord.all(reading, model)
    }
    for customer in known.customers {
      var keys: [String] = []
      try reading.notes(in: "sync.decisions \(customer)", after: nil) { key, decision in
        if decision == "accepted", !(known.accepted[customer]?.contains(key) ?? false) { keys.append(key) }
        return true
      }
      if !keys.isEmpty { entry.accepted[customer] = keys.sorted() }
    }
    if entry.from == entry.to, entry.rows.isEmpty, entry.accepted.isEmpty { return }
    try file.write(entry)
    state.withLock { state in
      state.position = position
      for (customer, keys) in entry.accepted { state.accepted[customer, default: []].formUnion(keys) }
    }
  }

  private func locked<R>(_ body: () throws -> R) rethrows -> R {
    lock.lock()
    defer { lock.unlock() }
    return try body()
  }

  // MARK: The store

  var name: String { store.name }
  var unknownCommits: Int { store.unknownCommits }
  func read<R>(_ body: (any RowReading) throws -> R) throws -> R {
    try locked {
      try store.read { reading in
        // What is read here may be shown next.
        if !state.withLock({ $0.isWriting }) { try record(reading) }
        return try body(reading)
      }
    }
  }
  func write<R>(origin: ObjectIdentifier?, _ body: (any RowWriting) throws -> R) throws -> R {
    try locked {
      let isOutermost = state.withLock { state in
        defer { state.isWriting = true }
        return !state.isWriting
      }
      defer { if isOutermost { state.withLock { $0.isWriting = false } } }
      let result = try store.write(origin: origin, body)
      if isOutermost { try record() }
      return result
    }
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
