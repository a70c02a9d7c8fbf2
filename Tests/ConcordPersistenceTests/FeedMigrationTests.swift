#if Persistence
  import Concord
  import ConcordModel
  import Foundation
  import GRDB
  import Testing

  @testable import ConcordPersistence

  private struct First: PersistentEntity, Equatable {
    static let entityName = "Item"
    let id: Int
    var name: String
    var note: String?
    var lines: [String]

    static let persistentProperties: [PersistentProperty<First>] = [
      .init("id", \.id), .init("name", \.name), .init("note", \.note), .init("lines", \.lines),
    ]
    init(id: Int, name: String, lines: [String]) { (self.id, self.name, self.lines) = (id, name, lines) }
    init(from row: inout RowReader) throws {
      (id, name, note, lines) = (try row.read(), try row.read(), try row.read(), try row.read())
    }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(name)
      try row.write(note)
      try row.write(lines)
    }
  }

  /// The same, later: renamed and required, so that its table is made anew.
  private struct Second: PersistentEntity, Equatable {
    static let entityName = "Item"
    let id: Int
    var title: String
    var note: String
    var lines: [String]

    static let persistentProperties: [PersistentProperty<Second>] = [
      .init("id", \.id), .init("title", \.title, originalName: "name"), .init("note", \.note, default: "none"),
      .init("lines", \.lines),
    ]
    init(from row: inout RowReader) throws {
      (id, title, note, lines) = (try row.read(), try row.read(), try row.read(), try row.read())
    }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(title)
      try row.write(note)
      try row.write(lines)
    }
  }

  @Suite("Migrating a file with a feed of changes")
  struct FeedMigrationTests {
    private func open(_ url: URL, _ type: any PersistentEntity.Type) throws -> SQLiteStore {
      try SQLiteStore(url: url, entities: Model("Items", entities: [type]).entities)
    }

    private func fill(_ store: SQLiteStore) throws {
      let entity = try Model("Items", entities: [First.self]).entity(First.self)
      try store.write(origin: nil) { writing in
        for id in 1...3 {
          let item = First(id: id, name: "n\(id)", lines: ["a", "b"])
          _ = try writing.insert(entity.row(of: item, stamp: 1), for: EntityKey(entity, .integer(Int64(id))))
        }
      }
    }

    private func triggers(_ url: URL) throws -> [String] {
      try DatabaseQueue(path: url.path).read {
        try String.fetchAll(
          $0, sql: "SELECT tbl_name || ' ' || name FROM sqlite_master WHERE type = 'trigger' ORDER BY 1")
      }
    }

    @Test("What any program writes after a table was made anew is told, and positions before it know nothing")
    func followed() throws {
      try withFolder { folder in
        let url = folder.appending(path: "a.sqlite")
        let old = try open(url, First.self)
        try old.startFeed()
        try fill(old)
        let before = try old.read { try $0.position() }
        try old.close()
        let names = try triggers(url)
        #expect(names.count == 6)

        // Nobody starts the feed again.
        let store = try open(url, Second.self)
        defer { try? store.close() }
        #expect(try triggers(url) == names)
        #expect(try store.read { try $0.changes(since: before) } == nil)
        let position = try store.read { try $0.position() }
        #expect(try store.read { try $0.changes(since: position) }?.rows.isEmpty == true)
        try DatabaseQueue(path: url.path).write { db in
          try db.execute(sql: "UPDATE Item SET title = 'changed' WHERE id = 1")
          try db.execute(sql: "UPDATE Item SET lines = '[]' WHERE id = 2")
          try db.execute(sql: "DELETE FROM Item WHERE id = 3")
        }
        let changes = try #require(try store.read { try $0.changes(since: position) })
        #expect(changes.rows.map(\.key.id) == [1, 2, 3].map { StoredValue.integer($0) })
        #expect(changes.rows.first?.before?[1] == .text("n1") && changes.rows.last?.before?[2] == .text("none"))
      }
    }

    @Test("A file without a feed has none afterwards")
    func unfollowed() throws {
      try withFolder { folder in
        let url = folder.appending(path: "a.sqlite")
        let old = try open(url, First.self)
        try fill(old)
        try old.close()
        let store = try open(url, Second.self)
        defer { try? store.close() }
        #expect(try triggers(url) == [])
        #expect(throws: StoreError.self) { try store.read { try $0.position() } }
      }
    }
  }
#endif
