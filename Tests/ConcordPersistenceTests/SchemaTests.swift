#if Persistence
  import Concord
  import Foundation
  import GRDB
  import Testing

  @testable import ConcordPersistence

  /// An item as an app described it first.
  private struct First: PersistentEntity, Aggregate, Equatable {
    static let entityName = "Item"
    let id: Int
    var name: String
    var year: String
    var note: String?
    var code: String
    var reviews: [Review]
    var gone: [Review]

    static let persistentProperties: [PersistentProperty<First>] = [
      .init("id", \.id), .init("name", \.name, .indexed), .init("year", \.year), .init("note", \.note),
      .init("code", \.code), .init("reviews", \.reviews), .init("gone", \.gone),
    ]
    init(id: Int, name: String, year: String, note: String?, code: String, reviews: [Review]) {
      (self.id, self.name, self.year, self.note, self.code) = (id, name, year, note, code)
      (self.reviews, gone) = (reviews, reviews)
    }
    init(from row: inout RowReader) throws {
      id = try row.read()
      name = try row.read()
      year = try row.read()
      note = try row.read()
      code = try row.read()
      reviews = try row.read()
      gone = try row.read()
    }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(name)
      try row.write(year)
      try row.write(note)
      try row.write(code)
      try row.write(reviews)
      try row.write(gone)
    }
  }

  /// The same, later: renamed, added, removed, made optional and required.
  private struct Second: PersistentEntity, Aggregate, Equatable {
    static let entityName = "Item"
    let id: Int
    var title: String
    var year: String?
    var note: String
    var rating: Int
    var color: String?
    var critics: [Review]
    var more: [Review]

    static let persistentProperties: [PersistentProperty<Second>] = [
      .init("id", \.id), .init("title", \.title, .unique, originalName: "name"), .init("year", \.year),
      .init("note", \.note, default: "none"), .init("rating", \.rating, default: 5), .init("color", \.color),
      .init("critics", \.critics, originalName: "reviews"), .init("more", \.more),
    ]
    init(from row: inout RowReader) throws {
      id = try row.read()
      title = try row.read()
      year = try row.read()
      note = try row.read()
      rating = try row.read()
      color = try row.read()
      critics = try row.read()
      more = try row.read()
    }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(title)
      try row.write(year)
      try row.write(note)
      try row.write(rating)
      try row.write(color)
      try row.write(critics)
      try row.write(more)
    }
  }

  /// With a column of another type, one that is required, and no default.
  private struct Third: PersistentEntity, Equatable {
    static let entityName = "Item"
    let id: Int
    var year: Int
    var label: String

    static let persistentProperties: [PersistentProperty<Third>] = [
      .init("id", \.id), .init("year", \.year), .init("label", \.label),
    ]
    init(from row: inout RowReader) throws {
      id = try row.read()
      year = try row.read()
      label = try row.read()
    }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(year)
      try row.write(label)
    }
  }

  @Suite("Changing the schema")
  struct SchemaTests {
    private typealias Container = GenericPersistentContainer<ContextStrategy.Direct>

    private let item = First(
      id: 1, name: "one", year: "1999", note: nil, code: "x",
      reviews: [Review(id: 2, text: "b"), Review(id: 1, text: "a")])
    private let other = First(id: 2, name: "two", year: "2000", note: "good", code: "y", reviews: [])

    private func container(
      _ types: [any PersistentEntity.Type], _ migrations: [ColumnMigration] = []
    ) throws -> Container {
      Container(name: "Items", model: try Model("Items", entities: types, migrations: migrations))
    }

    /// Runs the body in a folder with a file of the first model.
    private func withFile(_ items: [First]? = nil, _ body: (URL) throws -> Void) throws {
      try withFolder { folder in
        let container = try container([First.self, Review.self])
        let store = try container.attachPersistentStore(at: folder)
        let context = container.newBackgroundContext()
        for item in items ?? [item, other] { context.insert(item, modifiedAt: 7) }
        try context.save()
        try container.detach(persistentStore: store)
        try body(folder)
      }
    }

    private func names(_ folder: URL) throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test("What can be inferred is: added, removed, renamed, made optional, given a default")
    func inferred() throws {
      try withFile { folder in
        let container = try container([Second.self, Review.self])
        let store = try container.attachPersistentStore(at: folder)
        let context = container.newBackgroundContext()
        let found = try context.fetch(FetchDescriptor<Second>())
        #expect(found.map(\.title) == ["one", "two"] && found.map(\.year) == ["1999", "2000"])
        #expect(found.map(\.note) == ["none", "good"] && found.map(\.rating) == [5, 5])
        #expect(found.map(\.color) == [nil, nil] && found.map(\.more) == [[], []])
        #expect(found.map(\.critics) == [item.reviews, []])
        // Stamps are carried over.
        context.insert(Review(id: 1, text: "stale"), modifiedAt: 6)
        try context.update(Second.self, id: 1, modifiedAt: 8) { $0.year = nil }
        try context.save()
        #expect(try context.find(Second.self, id: 1)?.year == nil)
        #expect(try context.find(Review.self, id: 1)?.text == "a")
        let sqlite = try #require(store.rows as? SQLiteStore)
        let tables = try sqlite.pool.read { db in
          try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY name")
        }
        #expect(
          tables == [
            "Item", "Item.title", "Item.title.nonplain", "Item_critics", "Item_critics.critics", "Item_more",
            "Item_more.more", "Review",
            "concord_relations", "concord_schema", "concord_unique", "concord_unique.owner",
          ])
        try container.detach(persistentStore: store)
        // Once only.
        let again = try self.container([Second.self, Review.self])
        try again.attachPersistentStore(at: folder)
        #expect(try again.newBackgroundContext().fetch(FetchDescriptor<Second>()).map(\.title) == ["one", "two"])
        #expect(try names(folder).filter { !$0.contains("-") } == ["Items.sqlite"])
        try again.detach(persistentStores: again.persistentStores)
        // One that is detached is whole in one file.
        #expect(try names(folder) == ["Items.sqlite"])
      }
    }

    @Test("A migration closure makes what cannot be inferred, of all that the old row had")
    func closures() throws {
      try withFile { folder in
        let container = try container(
          [Third.self],
          [
            ColumnMigration("year", of: Third.self) { old in
              guard case .text(let text) = old["year"] else { return .null }
              return .integer(Int64(text) ?? 0)
            },
            ColumnMigration("label", of: Third.self) { old in
              guard case .text(let name) = old["name"], case .text(let code) = old["code"] else { return .null }
              #expect(old.columns == ["code", "gone", "id", "name", "note", "reviews", "year"])
              return .text("\(name)/\(code)")
            },
          ])
        try container.attachPersistentStore(at: folder)
        let found = try container.newBackgroundContext().fetch(FetchDescriptor<Third>())
        #expect(found.map(\.year) == [1999, 2000] && found.map(\.label) == ["one/x", "two/y"])
      }
    }

    @Test("What cannot be migrated is told, all of it, and the file is as it was")
    func differences() throws {
      try withFile { folder in
        let container = try container([Third.self])
        #expect(
          reason { try container.attachPersistentStore(at: folder) } == """
            the store 'Items.sqlite' does not fit the model: Item.year is TEXT, not INTEGER; \
            Item.label is missing, and has no default
            """)
        #expect(container.persistentStores.isEmpty)
        struct Refusal: Error {}
        let failing = try self.container(
          [Third.self], ["year", "label"].map { ColumnMigration($0, of: Third.self) { _ in throw Refusal() } })
        #expect(throws: Refusal.self) { try failing.attachPersistentStore(at: folder) }
        let unique = try self.container([Second.self, Review.self])
        try withFile([item, First(id: 3, name: "one", year: "", note: nil, code: "", reviews: [])]) { folder in
          #expect(
            reason { try unique.attachPersistentStore(at: folder) }
              == "the store 'Items.sqlite' does not fit the model: Item.title is to be unique, and is not")
        }
        #expect(
          reason {
            try unique.attachPersistentStore(
              at: folder, for: StoreConfiguration(options: [NSMigratePersistentStoresAutomaticallyOption: false]))
          }?.contains("Item.title is missing") == true)
        let first = try self.container([First.self, Review.self])
        try first.attachPersistentStore(at: folder)
        #expect(try first.newBackgroundContext().fetch(FetchDescriptor<First>()) == [item, other])
      }
    }

    @Test("What is missing in some rows cannot be made required without a default")
    func required() throws {
      try withFile { folder in
        let container = try container([WithNote.self])
        #expect(
          reason { try container.attachPersistentStore(at: folder) }
            == "the store 'Items.sqlite' does not fit the model: Item.note is required, and missing in 1 row")
      }
      try withFile([other]) { folder in
        let container = try container([WithNote.self])
        try container.attachPersistentStore(at: folder)
        #expect(try container.newBackgroundContext().fetch(FetchDescriptor<WithNote>()).map(\.note) == ["good"])
      }
    }

    @Test("A file that does not fit is replaced if the configuration says so, and kept beside")
    func overwriting() throws {
      try withFile { folder in
        let configuration = StoreConfiguration(overwriteIncompatibleStore: true)
        let kept = ["Items.sqlite", "Items.sqlite.incompatible", "Items.sqlite.incompatible2"]
        for expected in [Array(kept.prefix(2)), kept] {
          let container = try container([Third.self])
          let store = try container.attachPersistentStore(at: folder, for: configuration)
          #expect(try container.newBackgroundContext().count(FetchDescriptor<Third>()) == 0)
          try container.detach(persistentStore: store)
          #expect(try names(folder) == expected)
          let other = try self.container([First.self, Review.self])
          if expected.count == 2 {
            let store = try other.attachPersistentStore(
              at: folder, for: StoreConfiguration(fileName: "Items.sqlite.incompatible"))
            #expect(try other.newBackgroundContext().fetch(FetchDescriptor<First>()) == [item, self.other])
            try other.detach(persistentStore: store)
            try FileManager.default.removeItem(at: folder.appending(path: "Items.sqlite"))
            try FileManager.default.copyItem(
              at: folder.appending(path: "Items.sqlite.incompatible"), to: folder.appending(path: "Items.sqlite"))
          }
        }
        // What fits is not replaced, nor what can be migrated.
        let container = try container([Second.self, Review.self])
        try container.attachPersistentStore(
          at: folder, for: StoreConfiguration(fileName: "Items.sqlite.incompatible2", overwriteIncompatibleStore: true))
        #expect(try container.newBackgroundContext().count(FetchDescriptor<Second>()) == 2)
      }
    }

    @Test("A file with the longest name is replaced, too, and kept under a name that a configuration may have")
    func overwritingLongName() throws {
      try withFile { folder in
        let name = String(repeating: "é", count: 120) + ".sqlite"
        #expect(name.utf8.count == 247)
        try FileManager.default.moveItem(
          at: folder.appending(path: "Items.sqlite"), to: folder.appending(path: name))
        let configuration = StoreConfiguration(fileName: name, overwriteIncompatibleStore: true)
        let container = try container([Third.self])
        let store = try container.attachPersistentStore(at: folder, for: configuration)
        #expect(try container.newBackgroundContext().count(FetchDescriptor<Third>()) == 0)
        try container.detach(persistentStore: store)
        let kept = try #require(try names(folder).first { $0.hasSuffix(".incompatible") })
        let other = try self.container([First.self, Review.self])
        try other.attachPersistentStore(at: folder, for: StoreConfiguration(fileName: kept))
        #expect(try other.newBackgroundContext().fetch(FetchDescriptor<First>()) == [item, self.other])
      }
    }

    @Test("An older program does not migrate a newer file back")
    func olderProgram() throws {
      try withFile { folder in
        let newer = try container([Second.self, Review.self])
        try newer.detach(persistentStore: newer.attachPersistentStore(at: folder))
        let older = try container([First.self, Review.self])
        let text = reason { try older.attachPersistentStore(at: folder) } ?? ""
        let refusal = "the store 'Items.sqlite' was migrated to a newer model"
        #expect(text.hasPrefix("\(refusal): Item.color is not in the model; "))
        #expect(text.contains("; Item.name is missing; Item.year is optional in the file; "))
        try newer.attachPersistentStore(at: folder)
        #expect(try newer.newBackgroundContext().count(FetchDescriptor<Second>()) == 2)
      }
    }

    @Test("Tables of types that the model does not know stay")
    func unknownTables() throws {
      try withFile { folder in
        let reviews = try container([Review.self])
        try reviews.detach(persistentStore: reviews.attachPersistentStore(at: folder))
        let first = try container([First.self, Review.self])
        try first.attachPersistentStore(at: folder)
        #expect(try first.newBackgroundContext().fetch(FetchDescriptor<First>()) == [item, other])
      }
    }

    @Test("A file that is damaged, or none of SQLite's, is a typed error, and stays as it is")
    func damagedFiles() throws {
      try withFolder { folder in
        let url = folder.appending(path: "Items.sqlite")
        for content in [
          Data("This is a text, and no database at all.".utf8) + Data(count: 5000), Data(repeating: 7, count: 4096),
        ] {
          try content.write(to: url)
          let container = try container([Review.self])
          for overwrites in [false, true] {
            let text = reason {
              try container.attachPersistentStore(
                at: folder, for: StoreConfiguration(overwriteIncompatibleStore: overwrites))
            }
            #expect(text?.hasPrefix("the store 'Items.sqlite' cannot be read: ") == true, "\(text ?? "nothing")")
            #expect(try Data(contentsOf: url) == content)
          }
        }
        try FileManager.default.removeItem(at: url)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        #expect(throws: StoreError.self) { try container([Review.self]).attachPersistentStore(at: folder) }
      }
      try withFile { folder in
        // Pages in the middle are gone.
        let url = folder.appending(path: "Items.sqlite")
        let data = try Data(contentsOf: url)
        try (data.prefix(4096) + Data(repeating: 0xA5, count: data.count - 4096)).write(to: url)
        let container = try container([First.self, Review.self])
        let text = reason {
          try container.attachPersistentStore(at: folder)
          _ = try container.newBackgroundContext().fetch(FetchDescriptor<First>())
        }
        #expect(text?.hasPrefix("the store 'Items.sqlite' cannot be read: ") == true, "\(text ?? "nothing")")
      }
    }
  }

  private struct WithNote: PersistentEntity {
    static let entityName = "Item"
    let id: Int
    var note: String

    static let persistentProperties: [PersistentProperty<WithNote>] = [.init("id", \.id), .init("note", \.note)]
    init(from row: inout RowReader) throws {
      id = try row.read()
      note = try row.read()
    }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(note)
    }
  }
#endif
