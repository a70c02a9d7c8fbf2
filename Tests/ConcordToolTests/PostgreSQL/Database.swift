#if Tool && PostgreSQL
  import ConcordPersistence
  import ConcordPostgreSQL
  import ConcordTestShared
  import Foundation

  /// A schema of the tests' server, in which an app has made its tables.
  struct Database {
    let server: PostgreSQLServer
    let schema = "tool \"\(UUID().uuidString.prefix(8))"
    let model: Model

    init(_ model: Model) throws {
      server = try PostgreSQLServer.shared.get()
      self.model = model
      try with { _ in }
    }

    var url: String { server.url }

    /// Runs a command with the URL in the place of a file.
    func run(_ command: String, _ arguments: String..., input: String? = nil) throws -> ToolResult {
      try run(command, arguments, input: input)
    }

    func run(_ command: String, _ arguments: [String], input: String? = nil) throws -> ToolResult {
      try Tool.run([command, url] + arguments + ["--schema", schema], input: input.map { Data($0.utf8) })
    }

    @discardableResult
    func sql(_ sql: String) throws -> String {
      try server.sql("SET search_path TO \"\(schema.replacing("\"", with: "\"\""))\"; \(sql)")
    }

    func configuration(_ url: String? = nil) -> StoreConfiguration {
      StoreConfiguration(
        type: .postgreSQL,
        options: [ConcordPostgreSQLOption: url ?? self.url, ConcordPostgreSQLSchemaOption: schema])
    }

    /// The app: a container with the database, which is detached at the end.
    @discardableResult
    func with<R>(
      url: String? = nil, _ body: (GenericPersistentContainer<ContextStrategy.Direct>) throws -> R
    ) throws -> R {
      let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Shop", model: model)
      let store = try container.attachPersistentStore(for: configuration(url))
      defer { try? container.detach(persistentStore: store) }
      return try body(container)
    }
  }

  /// A container with one file. The file is closed at the end.
  @discardableResult
  func withFile<R>(_ model: Model, at file: URL, _ body: (BackgroundContext) throws -> R) throws -> R {
    let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Odd", model: model)
    let store = try container.attachPersistentStore(
      at: file.deletingLastPathComponent(), for: StoreConfiguration(fileName: file.lastPathComponent))
    defer { try? container.detach(persistentStore: store) }
    return try body(container.newBackgroundContext())
  }

  /// A file with random entities.
  func makeOdd(_ folder: URL, _ count: Int, _ random: inout ToolRandom) throws -> URL {
    let file = folder.appending(path: "Odd.sqlite")
    try withFile(oddModel(), at: file) { context in
      for number in 0..<count { context.insert(Odd(number, &random)) }
      try context.save()
    }
    return file
  }
#endif
