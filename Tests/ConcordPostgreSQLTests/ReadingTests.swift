#if PostgreSQL
  import Concord
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordModel
  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

  @Suite("Readings of a PostgreSQL store", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct ReadingTests {
    private func told(_ store: PostgreSQLStore) -> (commits: Locked<[Set<EntityKey>?]>, observation: StoreObservation) {
      let commits = Locked<[Set<EntityKey>?]>([])
      return (commits, store.observeCommits { commit in commits.withLock { $0.append(commit.keys) } })
    }

    // MARK: What is not told yet

    @Test("A state from before the position is not taken for a server that has gone back, and hides no later notice")
    func olderState() throws {
      let fleet = try Fleet()
      let store = try fleet.store(pollInterval: 0.05)
      defer { try? store.close() }
      let (commits, observation) = told(store)
      let before = store.unknownCommits
      try store.read { reading in
        #expect(try reading.row(of: fleet.key(1)) == nil)
        try fleet.sql("INSERT INTO \"Progress\" VALUES (1, 1, 1)")
        #expect(eventually { commits.withLock { $0.count } == 1 })
        // Nothing that this reading sees is new.
        #expect(try reading.unannouncedKeys().isSubset(of: [fleet.key(1)]))
        #expect(store.unknownCommits == before)
      }
      try fleet.sql("UPDATE concord_state SET epoch = gen_random_uuid()")
      #expect(eventually { commits.withLock { $0.count } == 2 })
      #expect(commits.withLock { $0.last == .some(nil) })
      #expect(store.unknownCommits == before + 1)
      withExtendedLifetime(observation) {}
    }

    @Test(
      "That another database is there is noted with its position only: a connection that is cut between finds it out again"
    )
    func identityWithPosition() throws {
      let fleet = try Fleet()
      let proxy = try CuttingProxy(to: fleet.server.port)
      defer { proxy.stop() }
      let store = try fleet.store(url: fleet.server.url(ports: [proxy.port]), pollInterval: 0.02)
      defer { try? store.close() }
      let (commits, observation) = told(store)
      try fleet.sql("INSERT INTO \"Progress\" VALUES (0, 1, 1)")
      #expect(eventually { commits.withLock { $0.count } == 1 })
      proxy.count()
      // The table of another copy of the database has another identity.
      let copy = """
        ALTER TABLE concord_state RENAME TO concord_state_old; \
        CREATE TABLE concord_state (LIKE concord_state_old INCLUDING ALL); \
        INSERT INTO concord_state SELECT * FROM concord_state_old; DROP TABLE concord_state_old; \
        GRANT ALL ON concord_state TO shop
        """
      let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'shop'"
      var answers = 0
      let places = TestOptions.isLong ? 60 : 15
      for round in 0...places {
        let before = commits.withLock { $0.count { $0 == nil } }
        try fleet.sql(copy)
        // At each place of the answers to a connection that begins to listen.
        if round > 0 { proxy.cut(after: answers * round / places, ofAnswers: true) }
        proxy.count()
        try fleet.server.sql(end)
        let isTold = eventually(20) { commits.withLock { $0.count { $0 == nil } } > before }
        #expect(isTold, "cut after \(answers * round / places) of \(answers) bytes")
        proxy.cutNoMore()
        if round == 0 {
          Thread.sleep(forTimeInterval: 0.3)
          answers = max(proxy.counted.answers, 1000)
        }
      }
      withExtendedLifetime(observation) {}
    }

    // MARK: Reading again

    @Test("A reading within another one announces nothing for that")
    func nested() throws {
      let fleet = try Fleet()
      let store = try fleet.store()
      defer { try? store.close() }
      try store.write(origin: nil) { _ = try $0.insert(fleet.row(1, 1), for: fleet.key(1)) }
      var runs = 0
      let rows = try store.read { outer in
        runs += 1
        let first = try store.read { inner in
          inner.mayReadAgain()
          inner.willReadOnce()
          return try inner.row(of: fleet.key(1))
        }
        return [first, try outer.row(of: fleet.key(1))]
      }
      #expect(runs == 1)
      #expect(try rows == [fleet.row(1, 1), fleet.row(1, 1)])
      // Nor is it run again when the connection is lost.
      runs = 0
      #expect(throws: StoreError.self) {
        try store.read { outer in
          runs += 1
          _ = try store.read { inner in
            inner.mayReadAgain()
            return try inner.row(of: fleet.key(1))
          }
          try fleet.server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'shop'")
          _ = try outer.row(of: fleet.key(1))
        }
      }
      #expect(runs == 1)
    }

    @Test("A closure that has read one store is not run again when another one loses its connection, unless it may be")
    func several() throws {
      let (fleet, otherFleet) = (try Fleet(), try Fleet())
      let (store, other) = (try fleet.store(), try otherFleet.store())
      defer { for store in [store, other] { try? store.close() } }
      for isAllowed in [false, true] {
        var runs = 0
        let result = Result {
          try store.read { reading in
            runs += 1
            if isAllowed { reading.mayReadAgain() }
            _ = try other.read { try $0.row(of: otherFleet.key(1)) }
            if runs == 1 {
              try fleet.server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'shop'")
            }
            _ = try reading.row(of: fleet.key(1))
          }
        }
        #expect(runs == (isAllowed ? 2 : 1))
        #expect(((try? result.get()) != nil) == isAllowed)
      }
    }

    @Test("So it is for a coordinator, whatever types of stores it reads")
    func coordinator() throws {
      let fleet = try Fleet()
      let model = try Model(
        "Process", entities: [Entry.self, Progress.self],
        configurations: ["kept": [Progress.self], "fleet": [Entry.self]])
      let (entry, progress) = (try model.entity(Entry.self), try model.entity(Progress.self))
      let store = try PostgreSQLStore(
        name: "Shop", PostgreSQLOptions(connection: fleet.server.url, schema: fleet.schema), model: model,
        entities: [entry], configuration: "fleet")
      defer { try? store.close() }
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.attach(MemoryStore(name: "kept"), configuration: "kept")
      try coordinator.attach(store, configuration: "fleet")
      for isAllowed in [false, true] {
        var runs = 0
        let result = Result {
          try coordinator.read([entry, progress]) { reading in
            runs += 1
            if isAllowed { reading.mayReadAgain() }
            _ = try reading.row(of: EntityKey(progress, .integer(1)))
            if runs == 1 {
              try fleet.server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'shop'")
            }
            _ = try reading.row(of: EntityKey(entry, .integer(1)))
          }
        }
        #expect(runs == (isAllowed ? 2 : 1))
        #expect(((try? result.get()) != nil) == isAllowed)
      }
    }
  }
#endif
