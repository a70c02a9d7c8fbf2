#if PostgreSQL
  import Concord
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

  /// What the article *A fleet* says of rows that are loaded without triggers.
  @Suite("Rows that are loaded without triggers", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct LoadedRowsTests {
    /// How an administrator goes about it.
    struct Way: CustomTestStringConvertible, Sendable {
      let role: String
      let before: String
      var after = "SELECT concord_loaded();"
      var testDescription: String { "\(before) \(after)" }

      private static func alter(_ change: String) -> String {
        ["Note", "Chapter"].map { "ALTER TABLE \"\($0)\" \(change);" }.joined(separator: " ")
      }
      static let all = [
        Way(role: "shop", before: alter("DISABLE TRIGGER USER")),
        Way(role: "owner", before: "SET LOCAL session_replication_role TO replica;"),
        // The checks of references are for them to enable.
        Way(
          role: "owner", before: alter("DISABLE TRIGGER ALL"),
          after: "SELECT concord_loaded(); \(alter("ENABLE TRIGGER ALL"))"),
        Way(
          role: "owner", before: alter("DISABLE TRIGGER ALL"),
          after: "\(alter("ENABLE TRIGGER ALL")) SELECT concord_loaded();"),
      ]
    }

    @Test(
      "concord_loaded() in the same transaction lets views show them, searches find them, and devices get them",
      arguments: Way.all)
    func loaded(_ way: Way) throws {
      let fleet = try SearchFleet(Note.self, Chapter.self)
      let store = try fleet.store(interval: 0.02)
      defer { try? store.close() }
      try store.startFeed()
      let context = try store.context(fleet.model)
      for id in 1...2 { context.insert(Note(id, "pony \(id)")) }
      try context.save()
      let coordinator = PersistentStoreCoordinator(model: fleet.model)
      try coordinator.attach(store, configuration: "")
      let view = ViewContext(parent: coordinator, delivery: .immediate) { Issue.record("\($0)") }
      let list = try view.query(FetchDescriptor<Note>(sortBy: [SortDescriptor(\.id)]))
      let chapters = try view.query(FetchDescriptor<Chapter>())
      let position = try store.read { try $0.position() }
      try fleet.server.sql(
        """
        SET search_path TO \(identifier(fleet.schema));
        BEGIN;
        \(way.before)
        COPY "Note" (id, title, text, year, _stamp) FROM STDIN;
        3\tpony 3\t\\N\t0\t1
        4\tdonkey\t\\N\t0\t1
        \\.
        COPY "Chapter" (id, note, _stamp) FROM STDIN;
        1\t3\t1
        \\.
        UPDATE "Note" SET title = 'horse', _stamp = _stamp + 1 WHERE id = 1;
        DELETE FROM "Note" WHERE id = 2;
        \(way.after)
        COMMIT;
        """, role: way.role)
      #expect(eventually { list.value.map(\.title) == ["horse", "pony 3", "donkey"] && chapters.value.count == 1 })
      #expect(try context.ids("pony") == [3] && context.ids("horse") == [1] && context.ids("donkey") == [4])
      #expect(try context.usesWords("pony"))
      #expect(try store.read { try $0.changes(since: position) } == nil)
      // From now on all is noted again.
      #expect(try fleet.server.disabledTriggers(fleet.schema) == "0")
      let later = try store.read { try $0.position() }
      try fleet.sql("UPDATE \"Note\" SET title = 'mule' WHERE id = 4")
      #expect(eventually { list.value.map(\.title) == ["horse", "pony 3", "mule"] })
      #expect(try context.ids("donkey").isEmpty && context.ids("mule") == [4])
      #expect(try store.read { try $0.changes(since: later) }?.rows.map(\.key.id) == [.integer(4)])
      try fleet.expectWhole()
      withExtendedLifetime((coordinator, view)) {}
    }

    @Test("Without it nobody learns of rows whose triggers are enabled again")
    func unnoticed() throws {
      let fleet = try SearchFleet(Note.self)
      let store = try fleet.store(interval: 0.02)
      defer { try? store.close() }
      let told = Told(store)
      try fleet.sql(
        """
        BEGIN; ALTER TABLE "Note" DISABLE TRIGGER USER;
        INSERT INTO "Note" (id, title, year, _stamp) VALUES (1, 'pony', 0, 1);
        ALTER TABLE "Note" ENABLE TRIGGER USER; COMMIT
        """)
      try fleet.store().close()
      store.settle()
      #expect(told.keys.isEmpty)
      let context = try store.context(fleet.model)
      #expect(try context.ids("pony").isEmpty)
      // It may come later, too.
      try fleet.sql("SELECT concord_loaded()")
      #expect(eventually { told.keys == [nil] })
      #expect(try context.ids("pony") == [1])
    }

    /// A connection with a transaction that has loaded rows of one table, and has not called the function yet.
    private func load(_ fleet: SearchFleet, _ statements: String...) throws -> PostgreSQLConnection {
      let loading = try PostgreSQLConnection(PostgreSQLOptions(connection: fleet.server.url, schema: fleet.schema))
      try loading.run((["BEGIN", "ALTER TABLE \"Note\" DISABLE TRIGGER USER"] + statements).map { .once($0) })
      return loading
    }

    /// Attaches a store beside a transaction, which is rolled back if that waits.
    private func attach(_ fleet: SearchFleet, beside loading: PostgreSQLConnection) throws -> PostgreSQLStore {
      let attached = DispatchSemaphore(value: 0)
      let result = Locked<Result<PostgreSQLStore, any Error>?>(nil)
      Thread.detachNewThread {
        let store = Result { try fleet.store(interval: 0.02) }
        result.withLock { $0 = store }
        attached.signal()
      }
      let isAttached = attached.wait(timeout: .now() + 20) == .success
      #expect(isAttached)
      if !isAttached {
        _ = loading.rollBack()
        attached.wait()
      }
      return try #require(result.withLock { $0 }).get()
    }

    @Test("Who attaches while rows are being loaded does not wait, and is told of them")
    func attachingMeanwhile() throws {
      let fleet = try SearchFleet(Note.self)
      try fleet.store().close()
      let loading = try load(
        fleet, "INSERT INTO \"Note\" (id, title, year, _stamp) VALUES (1, 'pony', 0, 1)", "SELECT concord_loaded()")
      let store = try attach(fleet, beside: loading)
      defer { try? store.close() }
      let told = Told(store)
      let context = try store.context(fleet.model)
      #expect(try context.ids("pony").isEmpty)
      // Who writes waits.
      let failure = #expect(throws: PostgreSQLServer.Failure.self) {
        try fleet.sql("SET lock_timeout TO '10ms'; UPDATE \"Note\" SET year = 1")
      }
      #expect(failure?.description.contains("lock timeout") == true)
      try loading.run([.once("COMMIT")])
      #expect(eventually { told.keys == [nil] })
      #expect(try context.ids("pony") == [1])
    }

    @Test("Who attaches meanwhile folds no text of before the load for good")
    func foldingMeanwhile() throws {
      let fleet = try SearchFleet(Note.self)
      try fleet.store().close()
      // Nobody has folded it.
      try fleet.sql("INSERT INTO \"Note\" (id, title, year, _stamp) VALUES (1, 'pony', 0, 1)")
      let loading = try load(fleet, "UPDATE \"Note\" SET title = 'horse' WHERE id = 1", "SELECT concord_loaded()")
      let store = try attach(fleet, beside: loading)
      defer { try? store.close() }
      let told = Told(store)
      let context = try store.context(fleet.model)
      #expect(try context.ids("pony") == [1] && context.ids("horse").isEmpty)
      try loading.run([.once("COMMIT")])
      #expect(eventually { told.keys == [nil] })
      #expect(try context.ids("horse") == [1] && context.ids("pony").isEmpty)
      try fleet.expectWhole()
    }

    @Test("Who attaches while a table is emptied and loaded does not wait, and does not end the load in a deadlock")
    func emptied() throws {
      let fleet = try SearchFleet(Note.self)
      try fleet.store().close()
      try fleet.sql("INSERT INTO \"Note\" (id, title, year, _stamp) VALUES (1, 'pony', 0, 1), (2, 'pony', 0, 1)")
      let loading = try load(
        fleet, "TRUNCATE \"Note\"", "INSERT INTO \"Note\" (id, title, year, _stamp) VALUES (2, 'horse', 0, 1)")
      let store = try attach(fleet, beside: loading)
      defer { try? store.close() }
      try loading.run([.once("SELECT concord_loaded()"), .once("COMMIT")])
      let context = try store.context(fleet.model)
      #expect(try context.ids("horse") == [2] && context.ids("pony").isEmpty)
      try fleet.expectWhole()
    }

    @Test("A load does not wait for who has written another table whose texts are searched, and waits for the load's")
    func otherTables() throws {
      let fleet = try SearchFleet(Note.self, LongNamed.self)
      let store = try fleet.store(interval: 0.02)
      defer { try? store.close() }
      let other = identifier(LongNamed.entityName)
      let writing = try PostgreSQLConnection(PostgreSQLOptions(connection: fleet.server.url, schema: fleet.schema))
      try writing.run([.once("BEGIN"), .once("INSERT INTO \(other) VALUES (1, 'pony', 1)")])
      let loading = try load(fleet, "INSERT INTO \"Note\" (id, title, year, _stamp) VALUES (1, 'pony', 0, 1)")
      let written = DispatchSemaphore(value: 0)
      let result = Locked<Result<Void, any Error>?>(nil)
      Thread.detachNewThread {
        let found = Result {
          _ = try writing.run([
            .once("INSERT INTO \"Note\" (id, title, year, _stamp) VALUES (2, 'pony', 0, 1)"), .once("COMMIT"),
          ])
        }
        result.withLock { $0 = found }
        written.signal()
      }
      let waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '\"Note\"'::regclass"
      #expect(try eventually { try fleet.sql(waiting) == "1" })
      let load = Result { _ = try loading.run([.once("SELECT concord_loaded()"), .once("COMMIT")]) }
      if case .failure = load { _ = loading.rollBack() }
      written.wait()
      #expect(throws: Never.self) { try load.get() }
      #expect(throws: Never.self) { try result.withLock { $0 }?.get() }
      let context = try store.context(fleet.model)
      #expect(try context.ids("pony") == [1, 2])
      #expect(try context.fetch(FetchDescriptor<LongNamed>(search: "pony")).map(\.id) == [1])
      // In a transaction of its own it notes the rows of all tables.
      try fleet.sql("ALTER TABLE \(other) DISABLE TRIGGER USER; INSERT INTO \(other) VALUES (2, 'pony', 1)")
      try fleet.sql("ALTER TABLE \(other) ENABLE TRIGGER USER; ALTER TABLE \"Note\" DISABLE TRIGGER USER")
      try fleet.sql("SELECT concord_loaded()")
      #expect(try context.fetch(FetchDescriptor<LongNamed>(search: "pony")).map(\.id).sorted() == [1, 2])
    }

    @Test("It finds tables whatever their names are, and leaves alone triggers that are not Concord's")
    func names() throws {
      let fleet = try SearchFleet(LongNamed.self)
      let store = try fleet.store(interval: 0.02)
      defer { try? store.close() }
      let table = identifier(LongNamed.entityName)
      try fleet.sql(
        """
        CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
        CREATE TRIGGER mine AFTER INSERT ON \(table) FOR EACH ROW EXECUTE FUNCTION nothing();
        BEGIN; ALTER TABLE \(table) DISABLE TRIGGER USER; INSERT INTO \(table) VALUES (1, 'pony', 1);
        SELECT concord_loaded(); COMMIT
        """)
      let context = try store.context(fleet.model)
      #expect(try context.fetch(FetchDescriptor<LongNamed>(search: "pony")).map(\.id) == [1])
      #expect(
        try context.explain(FetchDescriptor<LongNamed>(search: "pony")).steps.contains { $0.contains("concord_words") })
      let disabled = try fleet.sql(
        "SELECT string_agg(tgname, ',') FROM pg_trigger WHERE tgrelid = \(literal(table))::regclass AND tgenabled = 'D'"
      )
      #expect(disabled == "mine")
    }

    @Test("A schema that was made without the function gets it from who attaches, if the role may make it")
    func olderSchemas() throws {
      let server = try PostgreSQLServer.shared.get()
      let fleet = try Fleet()
      let name = "till-\(UUID().uuidString.prefix(8))"
      try server.sql("CREATE ROLE \(identifier(name)) LOGIN PASSWORD '\(PostgreSQLServer.password)' NOSUPERUSER")
      try server.sql(PostgreSQLStore.sql(for: fleet.model, schema: fleet.schema, role: name))
      func count() throws -> String {
        try fleet.sql("SELECT count(*) FROM pg_proc WHERE oid = to_regprocedure('concord_loaded()')")
      }
      #expect(try count() == "1")
      try fleet.sql("DROP FUNCTION concord_loaded()")
      try fleet.store(url: server.url(ports: [server.port], role: name)).close()
      #expect(try count() == "0")
      try fleet.store(url: server.url(ports: [server.port], role: "owner")).close()
      #expect(try count() == "1")
      // Nor does that of an earlier release stay.
      let body = "SELECT md5(prosrc) FROM pg_proc WHERE oid = to_regprocedure('concord_loaded()')"
      let wanted = try fleet.sql(body)
      try fleet.sql("CREATE OR REPLACE FUNCTION concord_loaded() RETURNS void LANGUAGE plpgsql AS 'BEGIN END'")
      #expect(try fleet.sql(body) != wanted)
      try fleet.store(url: server.url(ports: [server.port], role: "owner")).close()
      #expect(try fleet.sql(body) == wanted)
    }

    @Test("It has no more rights than who calls it")
    func rights() throws {
      let server = try PostgreSQLServer.shared.get()
      let fleet = try Fleet()
      let name = "till-\(UUID().uuidString.prefix(8))"
      try server.sql("CREATE ROLE \(identifier(name)) LOGIN PASSWORD '\(PostgreSQLServer.password)' NOSUPERUSER")
      try server.sql(PostgreSQLStore.sql(for: fleet.model, schema: fleet.schema, role: name))
      try fleet.sql("ALTER TABLE \"Progress\" DISABLE TRIGGER USER")
      let connection = try PostgreSQLConnection(
        PostgreSQLOptions(connection: server.url(ports: [server.port], role: name), schema: fleet.schema))
      #expect(
        performing: { try connection.run([.once("SELECT concord_loaded()")]) },
        throws: { ($0 as? PostgreSQLFailure)?.code == "42501" })
    }

    @Test(
      "A role with the least grants may call it where texts are searched and no trigger is to be enabled",
      arguments: [false, true])
    func leastRights(_ isFollowed: Bool) throws {
      let server = try PostgreSQLServer.shared.get()
      let fleet = try SearchFleet(Note.self)
      let name = "till-\(UUID().uuidString.prefix(8))"
      try server.sql("CREATE ROLE \(identifier(name)) LOGIN PASSWORD '\(PostgreSQLServer.password)' NOSUPERUSER")
      try server.sql(
        PostgreSQLStore.sql(for: fleet.model, schema: fleet.schema, role: name, isFollowed: isFollowed))
      try fleet.sql(
        """
        INSERT INTO "Note" (id, title, year, _stamp) VALUES (1, 'pony', 0, 1);
        ALTER TABLE "Note" DISABLE TRIGGER USER;
        DELETE FROM "Note"; INSERT INTO "Note" (id, title, year, _stamp) VALUES (2, 'pony', 0, 1);
        ALTER TABLE "Note" ENABLE TRIGGER USER
        """)
      let connection = try PostgreSQLConnection(
        PostgreSQLOptions(connection: server.url(ports: [server.port], role: name), schema: fleet.schema))
      try connection.run([.once("SELECT concord_loaded()")])
      let store = try fleet.store(role: name)
      defer { try? store.close() }
      #expect(try store.context(fleet.model).ids("pony") == [2])
      #expect(try fleet.noted() == 0 && fleet.sql("SELECT \"key\" FROM \"concord_words.Note\"") == "2")
    }
  }

  /// With a reference that the server checks at the end of a transaction.
  private struct Chapter: PersistentEntity, Aggregate, Equatable {
    let id: Int
    var note: Note

    static let persistentProperties: [PersistentProperty<Chapter>] = [.init("id", \.id), .init("note", \.note)]

    init(from row: inout RowReader) throws { (id, note) = (try row.read(), try row.read()) }

    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(note)
    }
  }

  private struct LongNamed: PersistentEntity, Equatable {
    static let entityName = "a\"b'c.d %s %I " + String(repeating: "n", count: 60)
    let id: Int
    var title: String

    static let persistentProperties: [PersistentProperty<LongNamed>] = [
      .init("id", \.id), .init("title", \.title, .searchable),
    ]

    init(from row: inout RowReader) throws { (id, title) = (try row.read(), try row.read()) }

    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(title)
    }
  }
#endif
