#if PostgreSQL
  import Concord
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

  @Suite("The feed of a PostgreSQL store", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct FeedTests {
    @Test("Each commit of another store and of psql is told once, with its keys; own ones with their origin")
    func others() throws {
      let fleet = try Fleet()
      let (first, second) = (try fleet.store(), try fleet.store())
      defer { for store in [first, second] { try? store.close() } }
      let (toldFirst, toldSecond) = (Told(first), Told(second))
      let origin = NSObject()
      for id in 1...20 {
        try first.write(origin: ObjectIdentifier(origin)) { writing in
          _ = try writing.insert(fleet.row(id, 0), for: fleet.key(id))
          _ = try writing.insert(fleet.row(-id, 0), for: fleet.key(-id))
        }
      }
      try fleet.sql("INSERT INTO \"Progress\" VALUES (100, 7, 1); UPDATE \"Progress\" SET last = 8 WHERE id = 100")
      let wanted =
        try (1...20).map { try Set([fleet.key($0), fleet.key(-$0)]) } + [[fleet.key(100)], [fleet.key(100)]]
      #expect(eventually { toldSecond.keys.count >= 22 && toldFirst.keys.count >= 22 })
      first.settle()
      second.settle()
      #expect(toldSecond.keys == wanted && toldFirst.keys == wanted)
      #expect(toldFirst.commits.withLock { $0.prefix(20).allSatisfy { $0.origin == ObjectIdentifier(origin) } })
      #expect(toldSecond.commits.withLock { $0.allSatisfy { $0.origin == nil } })
      #expect(try second.read { try $0.row(of: fleet.key(100)) } == fleet.row(100, 8))
    }

    @Test("What commits late, with an id from before, is not missed: a position is a snapshot")
    func lateCommits() throws {
      let fleet = try Fleet()
      let store = try fleet.store()
      defer { try? store.close() }
      let told = Told(store)
      let open = try PostgreSQLConnection(PostgreSQLOptions(connection: fleet.server.url, schema: fleet.schema))
      try open.run([.once("BEGIN"), .once("INSERT INTO \"Progress\" VALUES (1, 1, 1)")])
      // These have later ids, and are told before.
      for id in 2...5 { try fleet.sql("INSERT INTO \"Progress\" VALUES (\(id), 1, 1)") }
      #expect(eventually { told.keys.count == 4 })
      store.settle()
      let seen = store.watch.state.withLock { $0.position }
      try open.run([.once("COMMIT")])
      func found(since position: FeedPosition) throws -> Int {
        try store.pool.with { connection in
          let result = try connection.run([FeedChanges.command(since: position)])[0]
          return try FeedChanges(result, since: position, [:], store: "").transactions.count
        }
      }
      #expect(try found(since: seen) == 1)
      // Without the transactions that were open it would be the highest id that was seen, and this one missed.
      let number = try #require(FeedPosition("\(seen.xmax):\(seen.xmax):"))
      #expect(try found(since: number) == 0)
      #expect(eventually { told.keys.count == 5 })
      store.settle()
      #expect(try told.keys == [2, 3, 4, 5, 1].map { try [fleet.key($0)] })
    }

    @Test("What a poll looks at beside an open transaction does not grow with what was committed since it began")
    func openTransaction() throws {
      let fleet = try Fleet()
      let store = try fleet.store()
      defer { try? store.close() }
      func connection() throws -> PostgreSQLConnection {
        try PostgreSQLConnection(PostgreSQLOptions(connection: fleet.server.url, schema: fleet.schema))
      }
      let (open, reader) = (try connection(), try connection())
      try open.run([.once("BEGIN"), .once("INSERT INTO \"Progress\" VALUES (0, 1, 1)")])
      try reader.run(PostgreSQLWatch.settings)
      func insert(_ ids: ClosedRange<Int>) throws {
        try fleet.sql(ids.map { "INSERT INTO \"Progress\" VALUES (\($0), 1, 1)" }.joined(separator: "; "))
      }
      for last in [100, 1000] {
        try insert(last / 2...last - 2)
        let snapshot = try reader.query("SELECT pg_current_snapshot()::text").text(0, 0)
        let position = try #require(FeedPosition(snapshot))
        #expect(position.inProgress.split(separator: ",").count >= 1)
        try insert(last - 1...last - 1)
        let command = FeedChanges.command(since: position)
        let result = try reader.run([command])[0]
        let changes = try FeedChanges(result, since: position, [:], store: "")
        #expect(changes.transactions.count == 1)
        let plan = try reader.run([
          .once("EXPLAIN (ANALYZE, TIMING off, SUMMARY off) \(command.sql)", command.parameters)
        ])[0]
        let lines = (0..<plan.count).map { plan.text($0, 0) }
        // Whatever kind of scan of the index it chooses.
        let scans = lines.filter { $0.contains("on concord_changes") }
        #expect(scans.count >= 2, "\(lines)")
        #expect(scans.allSatisfy { $0.contains("actual rows=1 ") || $0.contains("actual rows=0 ") }, "\(lines)")
        let unwanted = ["Seq Scan on concord_changes", "Removed", "JIT"]
        #expect(!lines.contains { line in unwanted.contains { line.contains($0) } }, "\(lines)")
      }
      try open.run([.once("ROLLBACK")])
    }

    @Test("To look for changes that are kept no longer reads some of the oldest ones, however many there are")
    func lookingForOld() throws {
      let fleet = try Fleet()
      try fleet.store().close()
      try fleet.sql(
        """
        INSERT INTO concord_changes (xid, at, entity) SELECT '7', now(), 'Progress' FROM generate_series(1, 20000);
        INSERT INTO concord_changes (xid, at, entity)
          SELECT '6', now() - interval '2 days', 'Progress' FROM generate_series(1, 40);
        ANALYZE concord_changes
        """)
      let connection = try PostgreSQLConnection(
        PostgreSQLOptions(connection: fleet.server.url, schema: fleet.schema))
      try connection.run(PostgreSQLWatch.settings)
      let command = PostgreSQLWatch.trim(olderThan: 86_400, before: try fleet.position())
      let plan = try connection.run([
        .once("EXPLAIN (ANALYZE, TIMING off, SUMMARY off) \(command.sql)", command.parameters)
      ])[0]
      let lines = (0..<plan.count).map { plan.text($0, 0) }
      let scans = lines.filter { $0.contains("on concord_changes") || $0.contains("Removed by") }
      let read = scans.compactMap { line in
        line.firstMatch(of: /(?:actual rows=|Removed by [A-Za-z ]+: )(\d+)(?: loops=(\d+))?/).map {
          (Int($0.1) ?? 0) * ($0.2.flatMap { Int($0) } ?? 1)
        }
      }
      #expect(read.count >= 2 && read.reduce(0, +) <= 2_100, "\(lines.joined(separator: "\n"))")
      #expect(try fleet.sql("SELECT count(*) FROM concord_changes WHERE xid = '6'") == "0")
    }

    @Test("Commits are told while somebody holds the row of the feed's state; old changes are removed when it is free")
    func trimmingBesideALock() throws {
      let fleet = try Fleet()
      let store = try fleet.store(pollInterval: 0.02, retention: 0.1)
      defer { try? store.close() }
      let told = Told(store)
      let holding = try PostgreSQLConnection(PostgreSQLOptions(connection: fleet.server.url, schema: fleet.schema))
      try holding.run([.once("BEGIN"), .once("UPDATE concord_state SET version = version")])
      try fleet.sql(
        "INSERT INTO concord_changes (xid, at, entity) VALUES ('6', now() - interval '2 days', 'Progress')")
      for id in 1...3 {
        try fleet.sql("INSERT INTO \"Progress\" VALUES (\(id), 1, 1)")
        #expect(eventually { told.keys.count == id }, "\(id)")
      }
      let old = "SELECT count(*) FROM concord_changes WHERE xid = '6'"
      #expect(try fleet.sql(old) == "1")
      try holding.run([.once("COMMIT")])
      #expect(try eventually { try fleet.sql(old) == "0" })
      #expect(try told.keys == (1...3).map { try [fleet.key($0)] })
    }

    @Test("What a reader has not told stays, however old")
    func trimmingBeforeAPosition() throws {
      let fleet = try Fleet()
      try fleet.store().close()
      let connection = try PostgreSQLConnection(PostgreSQLOptions(connection: fleet.server.url, schema: fleet.schema))
      try fleet.sql("INSERT INTO \"Progress\" VALUES (1, 0, 1)")
      let position = try fleet.position()
      try fleet.sql("INSERT INTO \"Progress\" VALUES (2, 0, 1)")
      func keysAfterTrimming(before position: FeedPosition) throws -> String {
        // Transactions of other tests may be open for a while.
        let isPassed = try eventually {
          try fleet.sql("SELECT pg_snapshot_xmin(pg_current_snapshot()) > max(xid) FROM concord_changes") == "t"
        }
        #expect(isPassed)
        let trim = PostgreSQLWatch.trim(olderThan: 0, before: position)
        _ = try connection.write(trim.sql, trim.parameters)
        return try fleet.sql("SELECT string_agg(keys::text, '' ORDER BY xid) FROM concord_changes")
      }
      #expect(try keysAfterTrimming(before: position) == "{2}")
      #expect(try keysAfterTrimming(before: fleet.position()) == "")
    }

    @Test("Eight writers hold two rows equal, and sometimes stay open: no view ever shows them differ, or goes back")
    func equalRows() throws {
      let fleet = try Fleet()
      let stores = try (0..<4).map { _ in try fleet.store() }
      defer { for store in stores { try? store.close() } }
      try stores[0].write(origin: nil) { writing in
        for id in 1...2 { _ = try writing.insert(fleet.row(id, 0, stamp: 0), for: fleet.key(id)) }
      }
      let isDone = Locked(false)
      let (differing, seen, backward) = (Locked(0), Locked(0), Locked(0))
      var held: [Any] = []
      for store in stores[0...1] {
        let coordinator = PersistentStoreCoordinator(model: fleet.model)
        try coordinator.attach(store, configuration: "")
        let view = ViewContext(parent: coordinator, delivery: .queue(DispatchQueue(label: "view"))) { error in
          print("view: \(error)")
        }
        let list = try view.query(FetchDescriptor<Progress>(sortBy: [SortDescriptor(\.id)]))
        held += [coordinator, view, list] as [Any]
        let latest = Locked(0)
        held.append(
          list.observe { rows in
            seen.withLock { $0 += 1 }
            // Each commit counts up.
            let last = rows.first?.last ?? 0
            let isBackward = latest.withLock { latest in
              defer { latest = last }
              return last < latest
            }
            if isBackward { backward.withLock { $0 += 1 } }
            if Set(rows.map(\.last)).count > 1 { differing.withLock { $0 += 1 } }
          })
      }
      DispatchQueue.concurrentPerform(iterations: 8) { number in
        var random = SystemRandomNumberGenerator()
        for round in 0..<25 {
          try? stores[number % 4].write(origin: nil) { writing in
            guard let old = try writing.row(of: fleet.key(1)), case .integer(let last) = old.values[1] else { return }
            for id in [1, 2] {
              let stored = try writing.row(of: fleet.key(id)) ?? old
              try writing.update(
                fleet.row(id, Int(last) + 1, stamp: Double(last) + 2), replacing: stored, for: fleet.key(id))
              if round % 8 == 0 { Thread.sleep(forTimeInterval: .random(in: 0...0.05, using: &random)) }
            }
          }
        }
      }
      isDone.withLock { $0 = true }
      for store in stores { store.settle() }
      Thread.sleep(forTimeInterval: 0.3)
      #expect(differing.withLock { $0 } == 0)
      #expect(backward.withLock { $0 } == 0)
      #expect(seen.withLock { $0 } > 10)
      let last = try fleet.sql("SELECT last FROM \"Progress\" ORDER BY id")
      print("equal rows: \(last.replacing("\n", with: " ")), seen \(seen.withLock { $0 })")
      withExtendedLifetime(held) {}
    }

    @Test("Without notifications the feed is late by the interval, and complete")
    func polling() throws {
      let fleet = try Fleet()
      let store = try fleet.store(pollInterval: 0.2)
      defer { try? store.close() }
      let told = Told(store)
      Thread.sleep(forTimeInterval: 0.3)
      try fleet.sql("SET concord.notifies TO off; INSERT INTO \"Progress\" VALUES (1, 1, 1)")
      #expect(eventually(3) { told.keys.count == 1 })
    }

    @Test("What was trimmed away since a position: anything may have changed")
    func trimming() throws {
      let fleet = try Fleet()
      let store = try fleet.store(pollInterval: 0.05, retention: 0.2)
      let reader = try fleet.store(pollInterval: 600)
      defer { for store in [store, reader] { try? store.close() } }
      let (told, toldReader) = (Told(store), Told(reader))
      Thread.sleep(forTimeInterval: 0.2)
      try fleet.sql("SET concord.notifies TO off; INSERT INTO \"Progress\" VALUES (1, 1, 1)")
      #expect(try eventually { try fleet.sql("SELECT count(*) FROM concord_changes") == "0" })
      #expect(told.keys == [[try fleet.key(1)]])
      reader.settle()
      #expect(toldReader.keys == [nil])
    }

    @Test("A database that was restored from a copy has another epoch: anything may have changed")
    func epochs() throws {
      let fleet = try Fleet()
      let store = try fleet.store(pollInterval: 0.05)
      defer { try? store.close() }
      let told = Told(store)
      try fleet.sql("UPDATE concord_state SET epoch = gen_random_uuid()")
      #expect(eventually { told.keys == [nil] })
      // Once.
      for id in 1...2 { try fleet.sql("INSERT INTO \"Progress\" VALUES (\(id), 1, 1)") }
      #expect(eventually { told.keys.count >= 3 })
      store.settle()
      #expect(try told.keys == [nil, [fleet.key(1)], [fleet.key(2)]])
    }

    @Test("A feed of positions whose row somebody has deleted begins anew when it is started again")
    func deletedFeed() throws {
      let fleet = try Fleet()
      let store = try fleet.store()
      defer { try? store.close() }
      try store.startFeed()
      let position = try store.read { try $0.position() }
      try fleet.sql("DELETE FROM concord_feed")
      #expect(throws: StoreError.self) { try store.read { try $0.position() } }
      try store.startFeed()
      #expect(try store.read { try $0.changes(since: position) } == nil)
      let later = try store.read { try $0.position() }
      try fleet.sql("INSERT INTO \"Progress\" VALUES (1, 1, 1)")
      #expect(try store.read { try $0.changes(since: later) }?.rows.map(\.key) == [fleet.key(1)])
    }

    @Test(
      "Changes that were noted while the server's clock was far ahead do not keep those behind them from being trimmed")
    func clockAhead() throws {
      let fleet = try Fleet()
      try fleet.store().close()
      try fleet.sql(
        """
        INSERT INTO concord_changes (xid, at, entity)
          SELECT '5', now() + interval '10 years', 'Progress' FROM generate_series(1, 1500);
        INSERT INTO concord_changes (xid, at, entity) VALUES ('6', now() + interval '1 hour', 'Progress');
        INSERT INTO concord_changes (xid, at, entity)
          SELECT '7', now() - interval '2 days', 'Progress' FROM generate_series(1, 40);
        """)
      let connection = try PostgreSQLConnection(PostgreSQLOptions(connection: fleet.server.url, schema: fleet.schema))
      let trim = PostgreSQLWatch.trim(olderThan: 86_400, before: try fleet.position())
      for _ in 1...2 { _ = try connection.write(trim.sql, trim.parameters) }
      #expect(try fleet.sql("SELECT DISTINCT xid FROM concord_changes") == "6")
    }
  }
#endif
