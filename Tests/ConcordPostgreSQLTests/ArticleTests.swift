#if PostgreSQL
  import ConcordPostgreSQL
  import ConcordTestShared
  import Foundation
  import Testing

  @Suite("The article on PostgreSQL stores", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct ArticleTests {
    @Test("Attached as written, a store shows what psql changes")
    func asWritten() async throws {
      let database = try PostgreSQLServer(isFast: true)
      let url = database.url
      let model = try Model("Article", entities: [Book.self])
      let configuration = StoreConfiguration(type: .postgreSQL, options: [ConcordPostgreSQLOption: url])
      let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Shop", model: model)
      try container.attachPersistentStore(for: configuration)
      let context = container.newBackgroundContext()
      context.insert(Book(id: "emma", title: "Ema"))
      try context.save()
      let books = try container.viewContext.query(FetchDescriptor<Book>())
      try database.sql("UPDATE concord.\"Book\" SET title = 'Emma' WHERE id = 'emma'")
      #expect(eventually { books.value.map(\.title) == ["Emma"] })
      try database.sql(
        "INSERT INTO concord.\"Book\" (id, title, _stamp) VALUES ('sql', 'SQL', extract(epoch FROM now()) - 978307200)")
      #expect(eventually { books.value.map(\.title) == ["Emma", "SQL"] })
      try container.detach(persistentStores: container.persistentStores)
    }
  }

  private struct Book: PersistentEntity, Equatable {
    let id: String
    var title: String

    static let persistentProperties: [PersistentProperty<Book>] = [.init("id", \.id), .init("title", \.title)]
    init(from row: inout RowReader) throws { self.init(id: try row.read(), title: try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(title)
    }
    init(id: String, title: String) { (self.id, self.title) = (id, title) }
  }
#endif
