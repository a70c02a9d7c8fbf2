#if PostgreSQL
  import Concord
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

  /// The feed of positions of an earlier release, which has other indexes.
  @Suite("Indexes of an earlier release's feed", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct HistoryIndexTests {
    private static let earlier = [
      "DROP INDEX IF EXISTS concord_history_entity_key",
      "CREATE INDEX IF NOT EXISTS concord_history_row ON concord_history (hashtextextended(\"key\", 0), xid)",
    ]

    private func indexes(_ fleet: Fleet) throws -> [String] {
      try fleet.sql(
        """
        SELECT indexname FROM pg_indexes WHERE schemaname = current_schema() AND tablename = 'concord_history' ORDER BY 1
        """
      ).split(separator: "\n").map(String.init)
    }

    private func put(_ last: Int, _ fleet: Fleet, _ store: PostgreSQLStore) throws {
      try store.write(origin: nil) { writing in
        let row = try fleet.row(1, last, stamp: Double(last))
        if let old = try writing.row(of: fleet.key(1)) {
          try writing.update(row, replacing: old, for: fleet.key(1))
        } else {
          _ = try writing.insert(row, for: fleet.key(1))
        }
      }
    }

    @Test("It gets the index of this one, keeps that of programs of the earlier one, and goes on")
    func earlierIndexes() throws {
      let fleet = try Fleet()
      let server = fleet.server
      let role = "device-\(UUID().uuidString.prefix(8))"
      try server.sql("CREATE ROLE \(identifier(role)) LOGIN PASSWORD '\(PostgreSQLServer.password)' NOSUPERUSER")
      try server.sql(
        PostgreSQLStore.sql(for: fleet.model, schema: fleet.schema, role: role, isFollowed: true),
        role: PostgreSQLServer.role)
      let first = try fleet.store()
      try first.startFeed()
      try put(1, fleet, first)
      let position = try first.read { try $0.position() }
      try put(2, fleet, first)
      let wanted = try (indexes(fleet) + ["concord_history_row"]).sorted()
      try fleet.sql(Self.earlier.joined(separator: "; "))
      #expect(try indexes(fleet) != wanted)
      let second = try fleet.store()
      try second.startFeed()
      #expect(try indexes(fleet) == wanted)
      #expect(try second.read { try $0.changes(since: position) }?.rows.count == 1)
      // A role that may not make it says what an administrator is to run.
      try fleet.sql(Self.earlier.joined(separator: "; "))
      let third = try fleet.store(url: server.url(ports: [server.port], role: role))
      let error = #expect(throws: PostgreSQLRightsError.self) { try third.startFeed() }
      try server.sql(error?.sql ?? "", role: PostgreSQLServer.role)
      try third.startFeed()
      #expect(try indexes(fleet) == wanted)
      #expect(try third.read { try $0.changes(since: position) }?.rows.count == 1)
      for store in [first, second, third] { try store.close() }
    }

    @Test("A server that makes it waits for nobody who reads the feed, and lets no save wait for these")
    func readers() throws {
      let fleet = try Fleet()
      let stores = try (0..<2).map { _ in try fleet.store() }
      defer { for store in stores { try? store.close() } }
      try stores[0].startFeed()
      try fleet.sql(Self.earlier.joined(separator: "; "))
      let reading = try stores[0].pool.connect()
      try reading.run([.beginReading, .once("SELECT count(*) FROM concord_history")])
      func isDone(_ body: @escaping @Sendable () throws -> Void) -> (isDone: Bool, DispatchSemaphore) {
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
          #expect(throws: Never.self) { try body() }
          ended.signal()
        }
        let isDone = ended.wait(timeout: .now() + 15) == .success
        if isDone { ended.signal() }
        return (isDone, ended)
      }
      let starting = isDone { try stores[1].startFeed() }
      let saving = isDone { try put(1, fleet, stores[0]) }
      #expect(starting.isDone && saving.isDone)
      try reading.run([.end])
      for ended in [starting.1, saving.1] { ended.wait() }
      #expect(try stores[0].read { try $0.row(of: fleet.key(1)) } != nil)
    }
  }
#endif
