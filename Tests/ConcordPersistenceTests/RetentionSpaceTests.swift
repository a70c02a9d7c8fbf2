import Concord
import ConcordModel
import Foundation
import Testing

@testable import ConcordPersistence

#if Persistence
  import GRDB
#endif

/// Keeps rows in memory, and cannot give their space back.
private final class CrampedStore: RowStore {
  let inner = MemoryStore(name: "cramped")
  var name: String { inner.name }

  func read<R>(_ body: (any RowReading) throws -> R) throws -> R { try inner.read(body) }
  func write<R>(origin: ObjectIdentifier?, _ body: (any RowWriting) throws -> R) throws -> R {
    try inner.write(origin: origin, body)
  }
  func observeCommits(_ body: @escaping @Sendable (StoreCommit) -> Void) -> StoreObservation {
    inner.observeCommits(body)
  }
  func giveBackSpace() throws { throw StoreError.storeFailed(store: name, reason: "there is no room beside it") }
  func settle() { inner.settle() }
  func close() throws { try inner.close() }
}

@Suite("Lasting: the space of what is purged")
struct RetentionSpaceTests {
  @Test("What is purged is gone, also if its space cannot be given back")
  func cramped() throws {
    let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Library", model: try libraryModel())
    try container.persistentStoreCoordinator.attach(CrampedStore(), configuration: "")
    let context = container.newBackgroundContext()
    for id in 0..<10 { context.insert(Review(id: id, text: ""), modifiedAt: Double(id)) }
    try context.save()
    #expect(try context.purge(Review.self, keeping: .atMost(7)) == 3)
    try container.keep(Review.self, .atMost(5))
    #expect(try context.fetch(FetchDescriptor<Review>()).map(\.id) == [5, 6, 7, 8, 9])
  }

  #if Persistence
    @Test("Giving space back waits for nobody who reads the file")
    func besideReader() async throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "concord-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Library", model: try libraryModel())
      let store = try container.attachPersistentStore(
        at: folder, for: StoreConfiguration(options: [ConcordBusyTimeoutOption: 3_600.0]))
      defer { try? container.detach(persistentStore: store) }
      let url = try #require(store.url)
      var configuration = Configuration()
      configuration.allowsUnsafeTransactions = true
      let other = try DatabaseQueue(path: url.path, configuration: configuration)
      let context = container.newBackgroundContext()
      func size() throws -> Int { try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int ?? 0 }
      // The file is rewritten the first time, and its free pages are moved later.
      for _ in 0..<2 {
        for id in 0..<1_000 { context.insert(Review(id: id, text: String(repeating: "x", count: 2_000))) }
        try context.save()
        try store.rows.synchronize()
        let full = try size()
        try await other.writeWithoutTransaction { db in
          try db.execute(sql: "BEGIN")
          #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM Review") == 1_000)
        }
        let removed = Locked<Int?>(nil)
        Thread.detachNewThread {
          let count = try? context.purge(Review.self, keeping: .atMost(10))
          removed.withLock { $0 = count ?? -1 }
        }
        #expect(try await eventually { removed.withLock { $0 } == 990 })
        try await other.writeWithoutTransaction { db in
          #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM Review") == 1_000)
          try db.execute(sql: "COMMIT")
        }
        #expect(try await eventually { removed.withLock { $0 } == 990 })
        try store.rows.synchronize()
        #expect(try size() < full / 5)
      }
    }
  #endif
}
