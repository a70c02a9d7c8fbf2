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
          _ = try store.pool.with { try $0.run([PostgreSQLWatch.trim(olderThan: 0)]) }
          return try trimmed(fleet) == last
        })
    }
  }
#endif
