#if PostgreSQL
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

  @Suite("Triggers that somebody has disabled", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct DisabledTriggerTests {
    @Test(
      "One that was left disabled is enabled by the next store that is attached",
      arguments: ["DISABLE", "ENABLE REPLICA"])
    func disabled(_ state: String) throws {
      let fleet = try Fleet()
      try fleet.store().close()
      try fleet.sql("ALTER TABLE \"Progress\" \(state) TRIGGER concord_update")
      let store = try fleet.store()
      defer { try? store.close() }
      let told = Told(store)
      try fleet.sql("INSERT INTO \"Progress\" VALUES (1, 0, 1); UPDATE \"Progress\" SET last = 2")
      #expect(eventually { told.keys.count == 2 })
    }

    @Test(
      "What was changed without one is told when another store has enabled it, or made it again",
      arguments: [
        ("ALTER TABLE \"Progress\" DISABLE TRIGGER USER", true), ("DROP TRIGGER concord_update ON \"Progress\"", false),
      ])
    func missed(_ statement: String, _ isHistoryIncomplete: Bool) throws {
      let fleet = try Fleet()
      let store = try fleet.store(pollInterval: 0.02)
      defer { try? store.close() }
      try store.startFeed()
      try fleet.sql("INSERT INTO \"Progress\" VALUES (1, 0, 1)")
      let position = try store.read { try $0.position() }
      let coordinator = PersistentStoreCoordinator(model: fleet.model)
      try coordinator.attach(store, configuration: "")
      let view = ViewContext(parent: coordinator, delivery: .immediate) { Issue.record("\($0)") }
      let list = try view.query(FetchDescriptor<Progress>())
      #expect(list.value.map(\.last) == [0])
      try fleet.sql("\(statement); UPDATE \"Progress\" SET last = 2")
      store.settle()
      #expect(list.value.map(\.last) == [0])
      try fleet.store().close()
      #expect(eventually { list.value.map(\.last) == [2] })
      // Devices are answered when what they are told is whole again.
      if isHistoryIncomplete {
        #expect(throws: StoreError.self) { try store.read { try $0.changes(since: position) } }
        try store.startFeed()
      }
      #expect(try store.read { try $0.changes(since: position) } == nil)
      // The feed begins anew once.
      let epoch = try fleet.sql("SELECT epoch FROM concord_state")
      try fleet.store().close()
      #expect(try fleet.sql("SELECT epoch FROM concord_state") == epoch)
      withExtendedLifetime((coordinator, view)) {}
    }

    @Test("A new table begins no feed anew")
    func newTable() throws {
      let fleet = try Fleet()
      try fleet.store().close()
      let epoch = try fleet.sql("SELECT epoch FROM concord_state")
      let model = try Model("Shop", entities: fleet.model.entities.map(\.type) + [Note.self])
      let options = PostgreSQLOptions(connection: fleet.server.url, schema: fleet.schema)
      try PostgreSQLStore(name: "Shop", options, model: model, entities: model.entities).close()
      #expect(try fleet.sql("SELECT epoch FROM concord_state") == epoch)
    }

    @Test("Texts that were written without those of the index of words are found after the next store is attached")
    func words() throws {
      let fleet = try SearchFleet()
      let first = try fleet.store()
      let context = try first.context(fleet.model)
      for id in 1...3 { context.insert(Note(id, "pony \(id)")) }
      try context.save()
      try first.close()
      try fleet.sql(
        """
        ALTER TABLE "Note" DISABLE TRIGGER USER;
        INSERT INTO "Note" ("id", "title", "text", "year", "_stamp") VALUES (4, 'pony 4', NULL, 0, 1);
        UPDATE "Note" SET "title" = 'horse' WHERE "id" = 2;
        DELETE FROM "Note" WHERE "id" = 3
        """)
      let store = try fleet.store()
      defer { try? store.close() }
      let reading = try store.context(fleet.model)
      func found(_ word: SearchQuery) throws -> [Int] {
        try reading.fetch(FetchDescriptor<Note>(search: word)).map(\.id).sorted()
      }
      #expect(try found("pony") == [1, 4] && found("horse") == [2])
      #expect(try reading.usesWords("pony"))
      try fleet.sql("UPDATE \"Note\" SET \"title\" = 'donkey' WHERE \"id\" = 1")
      #expect(try found("donkey") == [1] && found("pony") == [4])
    }

    @Test("What was written to an outbox without its trigger is told when another store has enabled it")
    func missedOutbox() throws {
      let fleet = try Fleet()
      let store = try fleet.store(pollInterval: 0.02)
      defer { try? store.close() }
      let told = Told(store)
      try fleet.sql(
        "ALTER TABLE concord_outbox_state DISABLE TRIGGER USER; UPDATE concord_outbox_state SET version = version + 1")
      store.settle()
      #expect(told.keys.isEmpty)
      try fleet.store().close()
      #expect(eventually { told.keys == [nil] })
    }

    @Test(
      "Positions of before rows were written without triggers are void, also where these are enabled by hand at last")
    func enabledByHand() throws {
      let fleet = try Fleet()
      let store = try fleet.store(pollInterval: 0.02)
      defer { try? store.close() }
      let told = Told(store)
      try store.startFeed()
      let position = try store.read { try $0.position() }
      try fleet.sql("ALTER TABLE \"Progress\" DISABLE TRIGGER ALL; INSERT INTO \"Progress\" VALUES (1, 0, 1)")
      try fleet.store().close()
      #expect(eventually { told.keys == [nil] })
      #expect(throws: StoreError.self) { try store.read { try $0.changes(since: position) } }
      try fleet.sql("ALTER TABLE \"Progress\" ENABLE TRIGGER ALL")
      for _ in 1...2 {
        #expect(try store.read { try $0.changes(since: position) } == nil)
        // By a server that is started.
        try store.startFeed()
      }
    }

    @Test("A server that was restarted is asked anew whether the feed of positions has its triggers")
    func restarted() throws {
      let server = try PostgreSQLServer(isFast: true)
      defer { try? server.stop("immediate") }
      let fleet = try Fleet(server)
      let store = try fleet.store(pollInterval: 0.02)
      defer { try? store.close() }
      let told = Told(store)
      try store.startFeed()
      let position = try store.read { try $0.position() }
      let identity = store.watch.state.withLock { $0.identity }
      try server.sql("ALTER ROLE shop NOLOGIN")
      try server.restart()
      try fleet.sql("ALTER TABLE \"Progress\" DISABLE TRIGGER USER; UPDATE concord_state SET epoch = gen_random_uuid()")
      try server.sql("ALTER ROLE shop LOGIN")
      #expect(eventually { store.watch.state.withLock { $0.identity } != identity })
      #expect(throws: StoreError.self) { try store.read { try $0.changes(since: position) } }
      withExtendedLifetime(told) {}
    }

    @Test(
      "A reading that began before everything may have changed says nothing of the feed of positions that is there since"
    )
    func earlierReading() throws {
      let store = try Fleet().store()
      defer { try? store.close() }
      let told = Told(store)
      let mark = store.watch.mark
      store.watch.tellAny()
      #expect(try store.watch.isFeedComplete("a", since: mark) { true })
      #expect(try store.watch.isFeedComplete("a", since: store.watch.mark) { false } == false)
      #expect(try store.watch.isFeedComplete("a", since: store.watch.mark) { true })
      #expect(try store.watch.isFeedComplete("a", since: store.watch.mark) { false })
      withExtendedLifetime(told) {}
    }

    @Test("The outbox's is enabled, too")
    func outbox() throws {
      let fleet = try Fleet()
      try fleet.store().close()
      try fleet.sql("ALTER TABLE concord_outbox_state DISABLE TRIGGER USER")
      let store = try fleet.store(pollInterval: 0.02)
      defer { try? store.close() }
      let told = Told(store)
      try fleet.sql("UPDATE concord_outbox_state SET version = version + 1")
      #expect(eventually { !told.keys.isEmpty })
    }

    @Test(
      "A commit whose answer is lost meanwhile is in doubt, and what was written is not written twice",
      arguments: [false, true], [false, true])
    func commitInDoubt(_ isIDKnown: Bool, _ areEnabledMeanwhile: Bool) throws {
      let fleet = try Fleet()
      let direct = try fleet.store()
      let proxy = try CuttingProxy(to: fleet.server.port)
      let store = try fleet.store(url: fleet.server.url(port: proxy.port), timeout: 10)
      defer {
        for store in [direct, store] { try? store.close() }
        proxy.stop()
      }
      try direct.write(origin: nil) { _ = try $0.insert(fleet.row(0, 0), for: fleet.key(0)) }
      try fleet.sql("ALTER TABLE \"Progress\" DISABLE TRIGGER USER")
      var attempts = 0
      /// Before the outcome is asked for.
      func enable() {
        proxy.refuse()
        Thread.detachNewThread {
          defer { try? proxy.goOn() }
          guard (try? eventually { try fleet.sql("SELECT last FROM \"Progress\" WHERE id = 0") == "1" }) == true else {
            return
          }
          try? fleet.store().close()
        }
      }
      func add(losing cutsAnswers: Bool? = nil) throws {
        try store.write(origin: nil) { writing in
          attempts += 1
          guard let old = try writing.row(of: fleet.key(0)), case .integer(let last) = old.values[1] else { return }
          try writing.update(
            fleet.row(0, Int(last) + 1, stamp: Double(last) + 2), replacing: old, for: fleet.key(0))
          if isIDKnown { try (writing as? PostgreSQLSession)?.flush() }
          if attempts == 1, let cutsAnswers { proxy.cut(after: 0, ofAnswers: cutsAnswers) }
          if attempts == 1, cutsAnswers == true, areEnabledMeanwhile { enable() }
        }
      }
      #expect {
        try add(losing: true)
      } throws: { "\($0)".contains(areEnabledMeanwhile ? "is not known any longer" : "triggers are disabled") }
      #expect(attempts == 1)
      #expect(try direct.read { try $0.row(of: fleet.key(0)) } == fleet.row(0, 1, stamp: 2))
      try fleet.sql("ALTER TABLE \"Progress\" ENABLE TRIGGER USER")
      attempts = 0
      try add()
      #expect(attempts == 1)
      #expect(try direct.read { try $0.row(of: fleet.key(0)) } == fleet.row(0, 2, stamp: 3))
      // One that is lost is found to be.
      attempts = 0
      try add(losing: false)
      #expect(attempts == 2)
      #expect(try direct.read { try $0.row(of: fleet.key(0)) } == fleet.row(0, 3, stamp: 4))
    }

    @Test(
      "A role that may enable none is refused with the SQL that does, and that lets all read anew",
      arguments: [true, false])
    func rights(_ mayRead: Bool) throws {
      let server = try PostgreSQLServer.shared.get()
      let fleet = try Fleet()
      let name = "till-\(UUID().uuidString.prefix(8))"
      try server.sql("CREATE ROLE \(identifier(name)) LOGIN PASSWORD '\(PostgreSQLServer.password)' NOSUPERUSER")
      try server.sql(PostgreSQLStore.sql(for: fleet.model, schema: fleet.schema, role: mayRead ? name : nil))
      let url = server.url(ports: [server.port], role: name)
      if mayRead { try fleet.store(url: url).close() }
      let epoch = try fleet.sql("SELECT epoch FROM concord_state")
      try fleet.sql(
        "ALTER TABLE \"Progress\" DISABLE TRIGGER USER; ALTER TABLE concord_outbox_state DISABLE TRIGGER USER")
      var sql = ""
      do { try fleet.store(url: url).close() } catch let error as PostgreSQLRightsError { sql = error.sql }
      #expect(sql.contains("ENABLE TRIGGER"))
      try server.sql(sql)
      try fleet.store(url: url).close()
      #expect(try fleet.server.disabledTriggers(fleet.schema) == "0")
      #expect(try fleet.sql("SELECT epoch FROM concord_state") != epoch)
    }
  }

  extension PostgreSQLServer {
    /// The number of triggers of a schema that are disabled.
    func disabledTriggers(_ schema: String) throws -> String {
      try sql(
        """
        SELECT count(*) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = \(literal(schema)) AND t.tgenabled = 'D'
        """)
    }
  }
#endif
