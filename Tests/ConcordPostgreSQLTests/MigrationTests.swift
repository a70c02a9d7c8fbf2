#if PostgreSQL
  import Concord
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

  private enum First {
    struct Item: PersistentEntity {
      static var entityName: String { "Item" }
      let id: Int
      var title: String
      var year: String
      static let persistentProperties: [PersistentProperty<Item>] = [
        .init("id", \.id), .init("title", \.title), .init("year", \.year),
      ]
      init(from row: inout RowReader) throws { (id, title, year) = (try row.read(), try row.read(), try row.read()) }
      func write(to row: inout RowWriter) throws {
        try row.write(id)
        try row.write(title)
        try row.write(year)
      }
      init(id: Int, title: String, year: String) { (self.id, self.title, self.year) = (id, title, year) }
    }
  }

  private enum Second {
    struct Item: PersistentEntity {
      static var entityName: String { "Item" }
      let id: Int
      var name: String
      var year: Int
      var note: String?
      static let persistentProperties: [PersistentProperty<Item>] = [
        .init("id", \.id), .init("name", \.name, originalName: "title"), .init("year", \.year), .init("note", \.note),
      ]
      init(from row: inout RowReader) throws {
        (id, name, year, note) = (try row.read(), try row.read(), try row.read(), try row.read())
      }
      func write(to row: inout RowWriter) throws {
        try row.write(id)
        try row.write(name)
        try row.write(year)
        try row.write(note)
      }
    }
  }

  private enum Third {
    struct Item: PersistentEntity {
      static var entityName: String { "Item" }
      let id: Int
      var title: String
      var year: String
      var rating: Int
      static let persistentProperties: [PersistentProperty<Item>] = [
        .init("id", \.id), .init("title", \.title), .init("year", \.year), .init("rating", \.rating, default: 5),
      ]
      init(from row: inout RowReader) throws {
        (id, title, year, rating) = (try row.read(), try row.read(), try row.read(), try row.read())
      }
      func write(to row: inout RowWriter) throws {
        try row.write(id)
        try row.write(title)
        try row.write(year)
        try row.write(rating)
      }
    }
  }

  @Suite("Migrating a PostgreSQL store", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct MigrationTests {
    @Test("A column is renamed, one converted, one added; the older model is refused then; all at once migrate once")
    func migrating() throws {
      let server = try PostgreSQLServer.shared.get()
      let options = PostgreSQLOptions(connection: server.url, schema: "m-\(UUID().uuidString.prefix(8))")
      @Sendable func open(_ model: Model) throws -> PostgreSQLStore {
        try PostgreSQLStore(name: "Shop", options, model: model, entities: model.entities)
      }
      let first = try Model("Items", entities: [First.Item.self])
      let entity = try first.entity(First.Item.self)
      let store = try open(first)
      try store.write(origin: nil) { writing in
        for id in 0..<10 {
          _ = try writing.insert(
            entity.row(of: First.Item(id: id, title: "t\(id)", year: "\(1990 + id)"), stamp: 1),
            for: EntityKey(entity, .integer(Int64(id))))
        }
      }
      try store.close()
      #expect(throws: StoreError.self) { try open(Model("Items", entities: [Second.Item.self])) }
      let conversion = ColumnMigration("year", of: Second.Item.self) { old in
        guard case .text(let text) = old["year"], let year = Int64(text) else { return .integer(0) }
        return .integer(year)
      }
      let second = try Model("Items", entities: [Second.Item.self], migrations: [conversion])
      let failures = Locked<[String]>([])
      DispatchQueue.concurrentPerform(iterations: 8) { _ in
        do { try open(second).close() } catch { failures.withLock { $0.append("\(error)") } }
      }
      #expect(failures.withLock { $0 } == [])
      let migrated = try open(second)
      let key = EntityKey(try second.entity(Second.Item.self), .integer(7))
      #expect(try migrated.read { try $0.row(of: key)?.values } == [.integer(7), .text("t7"), .integer(1997), .null])
      try migrated.close()
      #expect {
        try open(first)
      } throws: { error in
        // What differs is told.
        guard case StoreError.newerStore(_, let differences) = error else { return false }
        return !differences.isEmpty && differences.allSatisfy { $0.hasPrefix("Item.") }
          && "\(error)".contains("newer model: Item.")
      }
      let shapes = try server.sql("SELECT count(*) FROM \(identifier(options.schema)).concord_schema")
      #expect(shapes == "2")
    }

    @Test("A database that does not fit is refused, and never replaced")
    func neverReplaced() throws {
      let server = try PostgreSQLServer.shared.get()
      let schema = "m-\(UUID().uuidString.prefix(8))"
      func attach(_ type: any PersistentEntity.Type) throws -> any PersistentContainer {
        let container = GenericPersistentContainer<ContextStrategy.Direct>(
          name: "Shop", model: try Model("Items", entities: [type]))
        try container.attachPersistentStore(
          for: StoreConfiguration(
            type: .postgreSQL, overwriteIncompatibleStore: true,
            options: [ConcordPostgreSQLOption: server.url, ConcordPostgreSQLSchemaOption: schema]))
        return container
      }
      let first = try attach(First.Item.self)
      let context = first.newBackgroundContext()
      context.insert(First.Item(id: 1, title: "t", year: "1990"))
      try context.save()
      try first.detach(persistentStores: first.persistentStores)
      // A column of another type, without a conversion.
      #expect {
        _ = try attach(Second.Item.self)
      } throws: { error in
        guard case StoreError.incompatibleStore = error else { return false }
        return true
      }
      let again = try attach(First.Item.self)
      #expect(try again.newBackgroundContext().find(First.Item.self, id: 1)?.year == "1990")
      try again.detach(persistentStores: again.persistentStores)
    }

    @Test("A migration takes as long as it needs, and so do those that wait for it, whatever the time-out is")
    func longerThanTheTimeout() throws {
      let server = try PostgreSQLServer.shared.get()
      let schema = "m-\(UUID().uuidString.prefix(8))"
      @Sendable func open(_ model: Model) throws -> PostgreSQLStore {
        var options = PostgreSQLOptions(connection: server.url, schema: schema)
        options.timeout = 0.2
        return try PostgreSQLStore(name: "Shop", options, model: model, entities: model.entities)
      }
      try open(try Model("Items", entities: [First.Item.self])).close()
      let conversion = ColumnMigration("year", of: Second.Item.self) { _ in .integer(0) }
      let second = try Model("Items", entities: [Second.Item.self], migrations: [conversion])
      let reader = try PostgreSQLConnection(PostgreSQLOptions(connection: server.url, schema: schema))
      try reader.run([.once("BEGIN"), .once("SELECT count(*) FROM \"Item\"")])
      let failures = Locked<[String]>([])
      let ended = DispatchGroup()
      for _ in 0..<3 {
        DispatchQueue.global().async(group: ended) {
          do { try open(second).close() } catch { failures.withLock { $0.append("\(error)") } }
        }
      }
      // Longer than a statement may take, and than the client waits for an answer otherwise.
      Thread.sleep(forTimeInterval: 6.5)
      try reader.run([.once("COMMIT")])
      ended.wait()
      #expect(failures.withLock { $0 } == [])
      let shapes = try server.sql("SELECT count(*) FROM \(identifier(schema)).concord_schema")
      #expect(shapes == "2")
    }

    @Test("A migration gives up on a server that says nothing")
    func silentServer() throws {
      let server = try PostgreSQLServer(isFast: true)
      defer { try? server.stop("immediate") }
      var options = PostgreSQLOptions(connection: server.url, schema: "m")
      options.timeout = 0.2
      let connection = try PostgreSQLConnection(options)
      defer { server.goOn() }
      let failure = #expect(throws: PostgreSQLFailure.self) {
        try connection.changingSchema("m") {
          server.pause()
          try connection.run([.once("SELECT 1")])
        }
      }
      #expect(failure?.isConnectionLost == true)
    }

    @Test("To convert the values of a column reads each row a few times, however many there are")
    func convertingMany() throws {
      let server = try PostgreSQLServer.shared.get()
      let options = PostgreSQLOptions(connection: server.url, schema: "m-\(UUID().uuidString.prefix(8))")
      func open(_ model: Model) throws -> PostgreSQLStore {
        try PostgreSQLStore(name: "Shop", options, model: model, entities: model.entities)
      }
      let first = try Model("Items", entities: [First.Item.self])
      try open(first).close()
      let (count, schema) = (30_000, identifier(options.schema))
      try server.sql(
        """
        INSERT INTO \(schema)."Item" ("id", title, year, _stamp)
        SELECT n, 't' || n, (1000 + n % 1000)::text, 1 FROM generate_series(1, \(count)) AS n; ANALYZE \(schema)."Item"
        """)
      func rowsRead() throws -> Int {
        // What a session has read is noted when it has ended.
        Thread.sleep(forTimeInterval: 0.5)
        let read = try server.sql(
          """
          SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables
          WHERE relid = '\(schema)."Item"'::regclass
          """)
        return try #require(Int(read))
      }
      let before = try rowsRead()
      let conversion = ColumnMigration("year", of: Second.Item.self) { old in
        guard case .text(let text) = old["year"], let year = Int64(text) else { return .integer(0) }
        return .integer(year)
      }
      try open(try Model("Items", entities: [Second.Item.self], migrations: [conversion])).close()
      let read = try rowsRead() - before
      #expect((count...7 * count).contains(read), "\(read) rows were read")
      #expect(
        try server.sql("SELECT count(*) FROM \(schema).\"Item\" WHERE year = 1000 + \"id\" % 1000") == "\(count)")
    }

    @Test("A process with the older model that has the store open is told when it does not fit any longer")
    func migratedMeanwhile() throws {
      let server = try PostgreSQLServer.shared.get()
      let options = PostgreSQLOptions(connection: server.url, schema: "m-\(UUID().uuidString.prefix(8))")
      func open(_ model: Model) throws -> PostgreSQLStore {
        try PostgreSQLStore(name: "Shop", options, model: model, entities: model.entities)
      }
      let first = try Model("Items", entities: [First.Item.self])
      let entity = try first.entity(First.Item.self)
      let old = try open(first)
      func write(_ id: Int) throws {
        try old.write(origin: nil) { writing in
          _ = try writing.insert(
            entity.row(of: First.Item(id: id, title: "t", year: "1999"), stamp: Stamp(id + 1)),
            for: EntityKey(entity, .integer(Int64(id))))
        }
      }
      func read() throws -> StoredRow? { try old.read { try $0.row(of: EntityKey(entity, .integer(1))) } }
      try write(1)
      #expect(try read() != nil)
      func isNewer(_ body: () throws -> Void) -> Bool {
        do { try body() } catch StoreError.newerStore { return true } catch {}
        return false
      }
      // One column more does not concern a reading.
      try open(Model("Items", entities: [Third.Item.self])).close()
      #expect(isNewer { try write(2) })
      #expect(try read() != nil)
      let conversion = ColumnMigration("year", of: Second.Item.self) { _ in .integer(0) }
      try open(Model("Items", entities: [Second.Item.self], migrations: [conversion])).close()
      #expect(isNewer { try write(3) })
      #expect(isNewer { _ = try read() })
      try old.close()
      #expect(try server.sql("SELECT count(*) FROM \(identifier(options.schema)).\"Item\"") == "1")
    }
  }
#endif
