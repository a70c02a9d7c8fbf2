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
      do {
        _ = try open(first)
        Issue.record("the older model was taken")
      } catch StoreError.newerStore {}
      let shapes = try server.sql("SELECT count(*) FROM \(identifier(options.schema)).concord_schema")
      #expect(shapes == "2")
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
