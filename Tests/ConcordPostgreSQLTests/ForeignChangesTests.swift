#if PostgreSQL
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

  @Suite(
    "Changes that a copy of another cluster's database has brought", .serialized,
    .enabled(if: PostgreSQLServer.isInstalled))
  struct ForeignChangesTests {
    private static let count = 20_000
    private static let foreign = "'9000000000'"

    /// Notes changes with ids that the server will not give for long.
    private func bring(to fleet: Fleet, withHistory: Bool = false) throws {
      let ids = "(9000000000 + i)::text::xid8"
      let numbers = "generate_series(1, \(Self.count)) AS i"
      try fleet.sql(
        """
        INSERT INTO concord_changes (xid, entity, keys) SELECT \(ids), 'Progress', ARRAY[i::text] FROM \(numbers);
        UPDATE concord_state SET trimmed = \(Self.foreign);
        """)
      if withHistory {
        try fleet.sql(
          """
          INSERT INTO concord_history (xid, entity, "key", is_row) SELECT \(ids), 'Progress', i::text, true FROM \(numbers)
          """)
      }
    }

    private func foreignCount(_ table: String, _ fleet: Fleet) throws -> Int {
      try #require(Int(try fleet.sql("SELECT count(*) FROM \(table) WHERE xid >= \(Self.foreign)")))
    }

    private func trimmed(_ fleet: Fleet) throws -> UInt64 {
      try #require(UInt64(try fleet.sql("SELECT trimmed FROM concord_state")))
    }

    @Test("They are not read, and are removed some at a time while commits are told")
    func removed() throws {
      let fleet = try Fleet()
      try fleet.store().close()
      try bring(to: fleet)
      let stores = [try fleet.store(pollInterval: 0.02), try fleet.store(pollInterval: 0.02)]
      defer { for store in stores { try? store.close() } }
      let position = stores[0].watch.state.withLock { $0.position }
      let looked = try stores[0].pool.with { try $0.run([FeedChanges.command(since: position)])[0] }
      // That of the state.
      #expect(looked.count == 1)
      // That what was trimmed is not known is told once by each.
      let told = Locked<[Set<EntityKey>?]>([])
      let observations = stores.map { store in
        store.observeCommits { commit in told.withLock { $0.append(commit.keys.map(Set.init)) } }
      }
      for id in 1...20 {
        try fleet.sql("INSERT INTO \"Progress\" VALUES (\(id), 0, 1)")
        let key = try fleet.key(id)
        #expect(eventually { told.withLock { $0.contains([key]) || $0.suffix(2).contains(nil) } })
      }
      #expect(told.withLock { $0.count { $0 == nil } } <= 2)
      #expect(try eventually { try foreignCount("concord_changes", fleet) == 0 })
      #expect(try trimmed(fleet) < 9_000_000_000)
      withExtendedLifetime(observations) {}
    }

    @Test("Beside a transaction that stays open they are removed, and nothing is read anew for them afterwards")
    func besideOpen() throws {
      let fleet = try Fleet()
      try fleet.store().close()
      let open = try PostgreSQLConnection(PostgreSQLOptions(connection: fleet.server.url, schema: fleet.schema))
      try open.run([.once("BEGIN"), .once("INSERT INTO \"Progress\" VALUES (0, 1, 1)")])
      try bring(to: fleet)
      let store = try fleet.store(pollInterval: 0.02)
      defer { try? store.close() }
      let told = Locked<[Set<EntityKey>?]>([])
      let observation = store.observeCommits { commit in told.withLock { $0.append(commit.keys.map(Set.init)) } }
      #expect(try eventually { try foreignCount("concord_changes", fleet) == 0 && trimmed(fleet) < 9_000_000_000 })
      // A look that has begun before.
      store.settle()
      let before = told.withLock { $0.count }
      for id in 1...10 {
        try fleet.sql("INSERT INTO \"Progress\" VALUES (\(id), 0, 1)")
        store.settle()
      }
      let keys = try (1...10).map { try Set([fleet.key($0)]) }
      #expect(eventually { told.withLock { $0.count == before + 10 } })
      #expect(told.withLock { Array($0[before...]) } == keys)
      try open.run([.once("COMMIT")])
      #expect(eventually { told.withLock { $0.count == before + 11 } })
      withExtendedLifetime(observation) {}
    }

    @Test("A change of the copy with the id of a transaction that is open here is not told again and again")
    func idOfOpen() throws {
      let fleet = try Fleet()
      let store = try fleet.store(pollInterval: 600)
      defer { try? store.close() }
      let open = try PostgreSQLConnection(PostgreSQLOptions(connection: fleet.server.url, schema: fleet.schema))
      try open.run([.once("BEGIN"), .once("INSERT INTO \"Progress\" VALUES (0, 1, 1)")])
      let id = try open.query("SELECT pg_current_xact_id()::text").text(0, 0)
      let told = Locked(0)
      let observation = store.observeCommits { _ in told.withLock { $0 += 1 } }
      try fleet.sql("INSERT INTO \"Progress\" VALUES (1, 0, 1)")
      store.settle()
      #expect(told.withLock { $0 } == 1)
      try fleet.sql("INSERT INTO concord_changes (xid, entity, keys) VALUES ('\(id)', 'Progress', ARRAY['7'])")
      for _ in 0..<3 { store.settle() }
      #expect(told.withLock { $0 } == 1)
      try open.run([.once("COMMIT")])
      store.settle()
      #expect(told.withLock { $0 } >= 2)
      withExtendedLifetime(observation) {}
    }

    @Test("A position that does not see all that a copy has brought of rows as they were is void")
    func positions() throws {
      let fleet = try Fleet()
      let store = try fleet.store()
      defer { try? store.close() }
      try store.startFeed()
      let open = try PostgreSQLConnection(PostgreSQLOptions(connection: fleet.server.url, schema: fleet.schema))
      try open.run([.once("BEGIN"), .once("INSERT INTO \"Progress\" VALUES (0, 1, 1)")])
      let id = try open.query("SELECT pg_current_xact_id()::text").text(0, 0)
      try fleet.sql("INSERT INTO \"Progress\" VALUES (1, 0, 1)")
      try bring(to: fleet, withHistory: true)
      try fleet.sql(
        "INSERT INTO concord_history (xid, entity, \"key\", is_row) VALUES ('\(id)', 'Progress', '1', true)")
      try store.startFeed()
      let position = try store.read { try $0.position() }
      try fleet.sql("UPDATE \"Progress\" SET last = 5 WHERE id = 1")
      // The earliest change of the entity that the position does not see would be the copy's.
      #expect(try store.read { try $0.changes(since: position) } == nil)
      try open.run([.once("COMMIT")])
      let later = try store.read { try $0.position() }
      try fleet.sql("UPDATE \"Progress\" SET last = 6 WHERE id = 1")
      let change = try store.read { try $0.changes(since: later) }?.rows.first
      #expect(change?.before?.last == .integer(5))
    }

    @Test("Whoever holds the row of the feed holds up nobody who tells commits")
    func heldFeed() throws {
      let fleet = try Fleet()
      let first = try fleet.store()
      try first.startFeed()
      try first.close()
      try bring(to: fleet, withHistory: true)
      let open = try PostgreSQLConnection(PostgreSQLOptions(connection: fleet.server.url, schema: fleet.schema))
      try open.run([.once("BEGIN"), .once("SELECT FROM concord_feed FOR UPDATE")])
      let store = try fleet.store(pollInterval: 0.02)
      defer { try? store.close() }
      let told = Told(store)
      #expect(try eventually { try foreignCount("concord_changes", fleet) == 0 })
      for id in 1...5 {
        try fleet.sql("INSERT INTO \"Progress\" VALUES (\(id), 0, 1)")
        let key = try fleet.key(id)
        #expect(eventually(3) { told.keys.contains([key]) })
      }
      #expect(try foreignCount("concord_history", fleet) == Self.count)
      try open.run([.once("COMMIT")])
    }

    @Test("A role without the rights to follow removes them, and the feed of positions is left to one that has these")
    func roles() throws {
      let server = try PostgreSQLServer.shared.get()
      let fleet = try Fleet()
      let names = ["till", "sync"].map { "\($0)-\(UUID().uuidString.prefix(8))" }
      let roles = names.map(identifier)
      func open(_ name: String) throws -> PostgreSQLStore {
        try fleet.store(url: server.url(ports: [server.port], role: name), pollInterval: 0.02)
      }
      for role in roles {
        try server.sql("CREATE ROLE \(role) LOGIN PASSWORD '\(PostgreSQLServer.password)' NOSUPERUSER")
      }
      try server.sql(PostgreSQLStore.sql(for: fleet.model, schema: fleet.schema, role: names[0]))
      let till = try open(names[0])
      defer { try? till.close() }
      do { try till.startFeed() } catch let error as PostgreSQLRightsError { try server.sql(error.sql) }
      try fleet.sql(
        """
        GRANT \(roles[0]) TO \(roles[1]);
        GRANT SELECT, DELETE ON concord_history TO \(roles[1]);
        GRANT SELECT, UPDATE ON concord_feed TO \(roles[1]);
        GRANT SELECT ON concord_feed_columns TO \(roles[1]);
        """)
      try bring(to: fleet, withHistory: true)
      let observation = till.observeCommits { _ in }
      #expect(try eventually { try foreignCount("concord_changes", fleet) == 0 })
      #expect(try trimmed(fleet) < 9_000_000_000)
      #expect(try foreignCount("concord_history", fleet) == Self.count)
      let other = try open(names[1])
      defer { try? other.close() }
      #expect(throws: StoreError.self) { try other.read { try $0.position() } }
      try other.startFeed()
      #expect(try foreignCount("concord_history", fleet) == 0)
      let position = try other.read { try $0.position() }
      try fleet.sql("INSERT INTO \"Progress\" VALUES (1, 0, 1)")
      #expect(try other.read { try $0.changes(since: position) }?.rows.map(\.key) == [try fleet.key(1)])
      withExtendedLifetime(observation) {}
    }

    @Test("What is trimmed while a greater id stands there is known to be trimmed")
    func trims() throws {
      let fleet = try Fleet()
      let store = try fleet.store()
      defer { try? store.close() }
      for id in 1...3 { try fleet.sql("INSERT INTO \"Progress\" VALUES (\(id), 0, 1)") }
      let last = try #require(UInt64(try fleet.sql("SELECT xid FROM concord_changes ORDER BY xid DESC LIMIT 1")))
      try fleet.sql("UPDATE concord_state SET trimmed = \(Self.foreign)")
      // All transactions that were open elsewhere end.
      #expect(
        try eventually {
          _ = try store.pool.with { try $0.run([PostgreSQLWatch.trim(olderThan: 0, before: fleet.position())]) }
          return try trimmed(fleet) == last
        })
    }
  }
#endif
