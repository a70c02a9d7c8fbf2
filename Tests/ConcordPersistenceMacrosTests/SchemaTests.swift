#if Macros
  import ConcordPersistence
  import ConcordPersistenceMacros
  import Foundation
  import Testing
  #if Persistence
    import GRDB
  #endif

  /// The same as the other `Parcel`, by hand.
  private enum ByHand {
    struct Parcel: PersistentEntity, Aggregate {
      let id: UUID
      var name: String
      var number: Int
      var genre: Genre
      var point: Point?
      var first: Item
      var second: Item?
      var items: [Item]
      var set: Set<Item>
      var byName: [String: Item]?
      var content: Content
      var contents: [Content]

      static let persistentProperties: [PersistentProperty<Parcel>] = [
        .init("id", \.id), .init("name", \.name, .indexed, originalName: "label"),
        .init("number", \.number, .unique, default: 7), .init("genre", \.genre), .init("point", \.point),
        .init("first", \.first), .init("second", \.second, .unique), .init("items", \.items, originalName: "things"),
        .init("set", \.set), .init("byName", \.byName), .init("content", \.content), .init("contents", \.contents),
      ]
      init(from row: inout RowReader) throws { throw StoreError.unknownEntity("none is read") }
      func write(to row: inout RowWriter) throws {}
    }

    enum Content: PersistentWrapper {
      case item(Item), note(String)

      var item: Item? {
        get { if case .item(let item) = self { item } else { nil } }
        set { if let newValue { self = .item(newValue) } }
      }
      var note: String? { if case .note(let note) = self { note } else { nil } }
      func wrappedEntitiesKeyPaths<Root>(
        relativeTo parent: WritableKeyPath<Root, Content>
      ) -> [PartialIdentifiableKeyPath<Root>] { [.init(parent.appending(path: \.item))] }
      static let persistentProperties: [PersistentProperty<Content>] = [.init("item", \.item), .init("note", \.note)]
      init(case name: String, from row: inout RowReader) throws { throw StoreError.unknownCase(name, of: Self.self) }
      func write(to row: inout RowWriter) throws {}
    }
  }

  private enum Generated {
    @PersistentEntity struct Parcel {
      let id: UUID
      @Attribute(.indexed, originalName: "label") var name: String
      @Attribute(.unique) var number: Int = 7
      var genre: Genre
      var point: Point? = nil
      var first: Item
      @Attribute(.unique) var second: Item?
      @Attribute(originalName: "things") var items: [Item] = []
      var set: Set<Item>
      @Transient var isOpen = false
      var byName: [String: Item]?
      var content: Content
      var contents: [Content]
    }

    @PersistentWrapper enum Content { case item(Item), note(String) }
  }

  /// What an earlier program knew of a parcel.
  @PersistentEntity private struct EarlierParcel {
    static let entityName = "Crate"
    let id: Int
  }

  /// With all that has a value of its own.
  @PersistentEntity private struct Crate: Equatable {
    let id: Int
    var number = 7
    var genre: Genre = .poem
    var points = [Point()]
    var note: String? = "none"
    var content: Medium = .note("new")
    var maybe: Medium? = Medium.none
    var items: [Item] = []
    var item: Item?
    var closed: Bool? = nil
  }

  @Suite("What macros describe, and what is described by hand")
  struct SchemaTests {
    @Test("Both give the same columns and tables")
    func sameDescription() throws {
      let (a, b) = (
        try Model("A", entities: [ByHand.Parcel.self, Item.self]),
        try Model("B", entities: [Generated.Parcel.self, Item.self])
      )
      let (byHand, generated) = (try #require(a.entity(named: "Parcel")), try #require(b.entity(named: "Parcel")))
      #expect(byHand.columns == generated.columns)
      #expect(byHand.collections == generated.collections)
      #expect(byHand.idPosition == generated.idPosition && byHand.keyStorageClass == generated.keyStorageClass)
      #expect(byHand.columns.count == 14)
    }

    #if Persistence
      @Test("And the same file, in which one is what the other made")
      func sameFile() throws {
        func schema(_ entities: [any PersistentEntity.Type], in folder: URL) throws -> [String] {
          let container = Container(name: "Test", model: try Model("Test", entities: entities))
          let store = try container.attachPersistentStore(at: folder)
          try container.detach(persistentStore: store)
          let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
          let file = try #require(files.first { $0.pathExtension == "sqlite" })
          return try DatabaseQueue(path: file.path).read { db in
            try String.fetchAll(db, sql: "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
          }
        }
        try withFolder { folder in
          let byHand = try schema([ByHand.Parcel.self, Item.self], in: folder)
          #expect(byHand.contains { $0.contains("CREATE TABLE \"Parcel_items\"") })
          #expect(try schema([Generated.Parcel.self, Item.self], in: folder) == byHand)
          let other = try withFolder { try schema([Generated.Parcel.self, Item.self], in: $0) }
          #expect(other == byHand)
        }
      }

      @Test("Rows that are older than a column have the initial value in it")
      func defaults() throws {
        try withFolder { folder in
          let before = Container(name: "Test", model: try Model("Before", entities: [EarlierParcel.self]))
          let store = try before.attachPersistentStore(at: folder)
          let context = before.newBackgroundContext()
          context.insert(EarlierParcel(id: 1))
          try context.save()
          try before.detach(persistentStore: store)
          let after = Container(name: "Test", model: try Model("After", entities: [Crate.self, Item.self]))
          try after.attachPersistentStore(at: folder)
          #expect(try after.newBackgroundContext().find(Crate.self, id: 1) == Crate(id: 1))
          try after.detach(persistentStores: after.persistentStores)
        }
      }
    #endif
  }
#endif
