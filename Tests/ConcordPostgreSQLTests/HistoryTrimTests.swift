#if PostgreSQL
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

  @Suite("Changes that are kept for who follows by positions", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct HistoryTrimTests {
    @Test("Those of a transaction that is committed late, when later ones are trimmed, are forgotten like others")
    func lateCommits() throws {
      let fleet = try Fleet()
      let store = try fleet.store()
      defer { try? store.close() }
      store.countInterval.withLock { $0 = 0 }
      try store.startFeed(FeedLimits(changes: 5, rows: 10))
      func count() throws -> Int { try #require(Int(try fleet.sql("SELECT count(*) FROM concord_history"))) }
      let open = try store.pool.connect()
      let insert = "INSERT INTO \"Progress\" SELECT n, 0, 1 FROM generate_series"
      try open.run([.once("BEGIN"), .once("\(insert)(1, 100) AS n")])
      try fleet.sql("\(insert)(101, 150) AS n")
      while try store.trimFeed() {}
      #expect(try count() == 15)
      try open.run([.once("COMMIT")])
      #expect(try count() == 115)
      while try store.trimFeed() {}
      #expect(try count() == 15)
    }

    @Test("What is kept is counted when a process trims for the first time, and an hour later")
    func counting() throws {
      let fleet = try Fleet()
      let stores = try (0..<2).map { _ in try fleet.store() }
      defer { for store in stores { try? store.close() } }
      for store in stores { try store.startFeed(FeedLimits(changes: 5, rows: 10)) }
      try fleet.sql("INSERT INTO \"Progress\" SELECT n, 0, 1 FROM generate_series(1, 50) AS n")
      func kept(_ store: PostgreSQLStore) throws -> String {
        while try store.trimFeed() {}
        return try fleet.sql("SELECT kept FROM concord_feed")
      }
      #expect(try kept(stores[0]) == "10")
      try fleet.sql("UPDATE concord_feed SET kept = 3")
      #expect(try kept(stores[0]) == "3")
      #expect(try kept(stores[1]) == "10")
    }
  }
#endif
