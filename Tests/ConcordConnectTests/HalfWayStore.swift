import Concord
import ConcordPersistence
import ConcordTestSupport
import Foundation

@testable import ConcordConnect

/// Keeps rows in memory, and lets commits fail when all of them has been written.
final class HalfWayStore: RowStore {
  let inner = MemoryStore(name: "half way")
  /// The number of the next commits that fail.
  let failures = Locked(0)
  var name: String { inner.name }

  static let type: StoreType = {
    StoreFactory.register("HalfWay", hasFile: false) { _ in HalfWayStore() }
    return "HalfWay"
  }()

  func read<R>(_ body: (any RowReading) throws -> R) throws -> R { try inner.read(body) }
  func write<R>(origin: ObjectIdentifier?, _ body: (any RowWriting) throws -> R) throws -> R {
    try inner.write(origin: origin) { writing in
      let result = try body(writing)
      let fails = failures.withLock { left in
        defer { left = max(0, left - 1) }
        return left > 0
      }
      if fails { throw StoreError.locked(store: name) }
      return result
    }
  }
  func observeCommits(_ body: @escaping @Sendable (StoreCommit) -> Void) -> StoreObservation {
    inner.observeCommits(body)
  }
  func settle() { inner.settle() }
  func close() throws { try inner.close() }
}

/// A started connect with books 1 to 3 in such a store, and the errors that it reports.
func withHalfWayStore(
  _ transport: ScriptedTransport,
  _ body: (TestConnect, PersistentStore, HalfWayStore, _ errors: Log<String>) async throws -> Void
) async throws {
  let errors = Log<String>()
  let policy = OutboxPolicy(backoff: Backoff(base: .milliseconds(1), cap: .milliseconds(1)))
  let connect = TestConnect(
    name: "Library", model: try libraryModel(), asyncErrorBlock: { errors.add("\($0)") }, transport: transport,
    forwarding: [Raise.self], outboxPolicy: policy)
  let store = try connect.attachPersistentStore(for: StoreConfiguration(type: HalfWayStore.type))
  guard let rows = store.rows as? HalfWayStore else { throw Failure(text: "another store") }
  try connect.store((1...3).map { Book(id: $0, title: "") })
  connect.persistentStoreCoordinator.settle()
  try await connect.start()
  let result = await Result { try await body(connect, store, rows, errors) }
  rows.failures.withLock { $0 = 0 }
  transport.release()
  try await connect.stop()
  try result.get()
}
