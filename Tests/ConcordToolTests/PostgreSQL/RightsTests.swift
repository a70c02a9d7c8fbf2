#if Tool && PostgreSQL
  import ConcordPersistence
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordPostgreSQL

  /// An author of a later model.
  private struct NewAuthor: PersistentEntity {
    static let entityName = "Author"
    let id: String
    var name: String
    var born: Int?

    static let persistentProperties: [PersistentProperty<NewAuthor>] = [
      .init("id", \.id), .init("name", \.name), .init("born", \.born),
    ]
    init(from row: inout RowReader) throws { (id, name, born) = (try row.read(), try row.read(), try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(name)
      try row.write(born)
    }
  }

  /// A role that may not make tables.
  @Suite("A role without the right to create tables", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct RightsTests {
    /// A role without any rights, in a database of its own.
    private struct Place {
      let server: PostgreSQLServer
      let name = "db\(UUID().uuidString.prefix(8).lowercased())"
      var role: String { "r\"\(name)" }
      var url: String {
        "postgresql://r%22\(name):se%3Acr%2Fet%401@127.0.0.1:\(server.port)/\(name)"
      }

      init() throws {
        server = try PostgreSQLServer.shared.get()
        try server.sql("CREATE ROLE \(identifier(role)) LOGIN PASSWORD '\(PostgreSQLServer.password)'")
        try server.sql("CREATE DATABASE \(name)", database: "postgres")
      }

      func administer(_ script: String) throws { try server.sql(script, database: name) }

      func with<R>(
        _ model: Model, _ body: (GenericPersistentContainer<ContextStrategy.Direct>) throws -> R
      ) throws -> R {
        let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Shop", model: model)
        let store = try container.attachPersistentStore(
          for: StoreConfiguration(type: .postgreSQL, options: [ConcordPostgreSQLOption: url]))
        defer { try? container.detach(persistentStore: store) }
        return try body(container)
      }

      /// Does all that a store does at run time.
      func use() throws {
        try with(shopModel()) { container in
          let query = try container.viewContext.query(FetchDescriptor<Author>())
          let context = container.newBackgroundContext()
          context.insert(
            Book(
              id: "B", title: "t", year: 1, isbn: "e\u{301}", author: Author(id: "A", name: "n"),
              reviews: [Review(id: 1, text: "r")]))
          try context.save()
          let other = container.newBackgroundContext()
          other.insert(Book(id: "C", title: "t", year: 1, isbn: "\u{e9}", author: Author(id: "A", name: "n")))
          #expect(throws: (any Error).self) { try other.save() }
          // Another program, with plain SQL.
          try administer("INSERT INTO concord.\"Author\" (id, name, _stamp) VALUES ('psql', 'x', 0)")
          let end = Date(timeIntervalSinceNow: 10)
          while query.value.count < 2, Date() < end { Thread.sleep(forTimeInterval: 0.01) }
          #expect(Set(query.value.map(\.id)) == ["A", "psql"])
          try context.delete(Book.self, id: "B")
          try context.save()
        }
        var options = PostgreSQLOptions(connection: url)
        options.feedRetention = 0
        options.pollInterval = 0.02
        let model = try shopModel()
        let store = try PostgreSQLStore(name: "Shop", options, model: model, entities: model.entities)
        defer { try? store.close() }
        let hold = try store.holdOutbox()
        #expect(hold != nil)
        let row = try store.write(origin: nil) { writing in
          try writing.writeOutbox(OutboxRow(key: "k", action: "a", entity: "e", id: .null, body: "{}", forwarded: 1))
        }
        #expect(row.number == 1)
        try store.write(origin: nil) { try $0.clearOutbox() }
        // The feed is trimmed.
        let observation = store.observeCommits { _ in }
        let end = Date(timeIntervalSinceNow: 10)
        func changes() throws -> String {
          try server.sql("SELECT count(*) FROM concord.concord_changes", database: name)
        }
        while try changes() != "0", Date() < end { Thread.sleep(forTimeInterval: 0.02) }
        #expect(try changes() == "0")
        withExtendedLifetime((observation, hold)) {}
      }
    }

    @Test("It is refused with the SQL, which an administrator runs; then it attaches, and does all that a store does")
    func attaching() throws {
      let place = try Place()
      let error = try #require(throws: PostgreSQLRightsError.self) { try place.with(shopModel()) { _ in } }
      #expect(error.role == place.role)
      #expect(!"\(error)".contains("se%3A") && !"\(error)".contains(PostgreSQLServer.password))
      #expect(
        try place.server.sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'concord'", database: place.name) == "0"
      )
      try place.administer(error.sql)
      try place.use()
      // What the app's library makes of the model is the same.
      #expect(error.sql == (try PostgreSQLStore.sql(for: shopModel(), role: place.role)))
    }

    @Test("What is missing later is refused and made in the same way")
    func later() throws {
      let place = try Place()
      let first = try Model("Shop", entities: [Author.self])
      try place.administer(try PostgreSQLStore.sql(for: first, role: place.role))
      try place.with(first) { _ in }
      let error = try #require(throws: PostgreSQLRightsError.self) { try place.with(shopModel()) { _ in } }
      #expect(!error.sql.contains("CREATE TABLE \"Author\"") && error.sql.contains("CREATE TABLE \"Book\""))
      try place.with(first) { _ in }
      try place.administer(error.sql)
      try place.use()
    }

    @Test("Where rows have to be migrated, it is told that their owner does that, and nothing has changed")
    func migrating() throws {
      let place = try Place()
      try place.administer(try PostgreSQLStore.sql(for: Model("Shop", entities: [Author.self]), role: place.role))
      let newer = try Model("Shop", entities: [NewAuthor.self])
      let error = try #require(throws: PostgreSQLRightsError.self) { try place.with(newer) { _ in } }
      #expect(error.sql.isEmpty && error.reason.contains("their owner is to attach"), "\(error)")
      try place.with(Model("Shop", entities: [Author.self])) { _ in }
    }

    @Test("A role that may not read what is there is refused with the grants")
    func unreadable() throws {
      let place = try Place()
      try place.administer(try PostgreSQLStore.sql(for: shopModel()))
      let error = try #require(throws: PostgreSQLRightsError.self) { try place.with(shopModel()) { _ in } }
      #expect(!error.sql.contains("CREATE") && error.sql.contains("GRANT USAGE ON SCHEMA"))
      try place.administer(error.sql)
      try place.use()
    }

    @Test("Every command over a database that the documentation has runs")
    func documentation() throws {
      let article = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(
        path: "../../../Sources/ConcordPersistence/ConcordPersistence.docc/TheTool.md")
      let place = try Place()
      try place.administer(try PostgreSQLStore.sql(for: shopModel(), role: place.role))
      let commands = try String(contentsOf: article.standardizedFileURL, encoding: .utf8).split(separator: "\n")
        .filter { $0.hasPrefix("concord ") && $0.contains("postgresql://") }
        .map { command in
          // What psql makes of the script has tests of its own.
          (command.contains("| psql") ? "\(command.prefix { $0 != "|" })" : String(command))
            .replacing(/postgresql:\/\/\S+/, with: "'\(place.url)'")
        }
      #expect(commands.count == 4)
      try withFolder { folder in
        let file = try makeShop(folder, bits: 10)
        try FileManager.default.moveItem(at: file, to: folder.appending(path: "Library.sqlite"))
        let result = try Tool.shell("set -e -o pipefail; cd '\(folder.path)'\n" + commands.joined(separator: "\n"))
        #expect(result.status == 0 && result.error.isEmpty, "\(result.error)")
        #expect(try Tool.run("export", place.url).lines.count > 20)
      }
    }

    @Test("concord schema prints the SQL that makes the tables of a database elsewhere, with the grants of a role")
    func schema() throws {
      let staging = try Database(shopModel())
      let place = try Place()
      let printed = try Tool.run(
        "schema", "--postgresql", staging.url, "--schema", staging.schema, "--role", place.role)
      #expect(printed.status == 0, "\(printed.error)")
      // The same tables, in a schema of the same name.
      try place.administer(printed.output)
      let again = try Tool.run("schema", "--postgresql", place.url, "--schema", staging.schema, "--role", place.role)
      #expect(again.output == printed.output, "\(again.error)")
      let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Shop", model: try shopModel())
      let store = try container.attachPersistentStore(for: staging.configuration(place.url))
      defer { try? container.detach(persistentStore: store) }
      let context = container.newBackgroundContext()
      context.insert(Book(id: "B", title: "t", year: 1, author: Author(id: "A", name: "n")))
      try context.save()
      #expect(try Tool.run("check", place.url, "--schema", staging.schema).status == 0)
      // The tool needs no more rights than the program.
      let exported = try Tool.run("export", place.url, "--schema", staging.schema)
      #expect(exported.lines.count == 3)
      let imported = try Tool.run(
        ["import", place.url, "--replace", "--schema", staging.schema], input: Data(exported.output.utf8))
      #expect(imported.status == 0, "\(imported.error)")
    }
  }
#endif
