#if Persistence
  import ConcordPersistence
  import Foundation
  import Testing

  private enum Earlier {
    enum Kind: String, Codable { case draft, done }
    enum Plain: Codable { case draft, done }
  }

  private enum Latest {
    enum Kind: String, Codable { case sketch, done }
    typealias Plain = Later.Plain
  }

  private enum Later {
    enum Kind: String, Codable { case sketch, done }
    enum Plain: Codable { case sketch, done }
  }

  private protocol Names: RawRepresentable<String>, Codable, Sendable, Equatable {
    /// What the names of columns begin with.
    static var prefix: String { get }
    associatedtype Plain: Codable, Sendable, Equatable
    static var first: Self { get }
    static var done: Self { get }
    static var plain: (first: Plain, done: Plain) { get }
  }

  extension Names { static var prefix: String { "" } }

  extension Latest.Kind: Names {
    fileprivate static var prefix: String { "new_" }
    fileprivate static var first: Self { .sketch }
    fileprivate static var plain: (first: Later.Plain, done: Later.Plain) { (.sketch, .done) }
  }

  extension Earlier.Kind: Names {
    fileprivate static var first: Self { .draft }
    fileprivate static var plain: (first: Earlier.Plain, done: Earlier.Plain) { (.draft, .done) }
  }

  extension Later.Kind: Names {
    fileprivate static var first: Self { .sketch }
    fileprivate static var plain: (first: Later.Plain, done: Later.Plain) { (.sketch, .done) }
  }

  private struct Item<Kind: Names>: PersistentEntity, Equatable {
    static var entityName: String { "Item" }
    let id: Int
    var raw: Kind = .done
    var optional: Kind?
    var plain: Kind.Plain = Kind.plain.done
    var many: [Kind] = []

    static var persistentProperties: [PersistentProperty<Self>] {
      [
        .init("id", \.id), .init(Kind.prefix + "raw", \.raw), .init(Kind.prefix + "optional", \.optional),
        .init(Kind.prefix + "plain", \.plain),
        .init(Kind.prefix + "many", \.many),
      ]
    }
    init(id: Int) { self.id = id }
    init(from row: inout RowReader) throws {
      id = try row.read()
      (raw, optional, plain, many) = (try row.read(), try row.read(), try row.read(), try row.read())
    }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(raw)
      try row.write(optional)
      try row.write(plain)
      try row.write(many)
    }
  }

  /// Enumerations without associated values, which are stored as their raw values, or as JSON.
  @Suite("Enumerations whose cases are others")
  struct RenamedCaseTests {
    private typealias New = Item<Later.Kind>

    private func run<R>(
      _ type: any PersistentEntity.Type, in folder: URL, _ migrations: [ColumnMigration] = [],
      _ body: (any PersistentContainer) throws -> R
    ) throws -> R {
      let container = GenericPersistentContainer<ContextStrategy.Direct>(
        name: "Items", model: try Model("Items", entities: [type], migrations: migrations))
      let store = try container.attachPersistentStore(at: folder)
      defer { try? container.detach(persistentStore: store) }
      return try body(container)
    }

    private func makeFile(in folder: URL) throws -> [Item<Earlier.Kind>] {
      var items = (0...4).map { Item<Earlier.Kind>(id: $0) }
      items[1].raw = .draft
      items[2].optional = .draft
      items[3].plain = .draft
      items[4].many = [.done, .draft]
      try run(Item<Earlier.Kind>.self, in: folder) { container in
        let context = container.newBackgroundContext()
        for item in items { context.insert(item) }
        try context.save()
      }
      return items
    }

    @Test("A name that the model does not know is an error of its row and column, and is kept")
    func unknown() throws {
      try withFolder { folder in
        let items = try makeFile(in: folder)
        try run(New.self, in: folder) { container in
          let context = container.newBackgroundContext()
          #expect(try context.find(New.self, id: 0) == New(id: 0))
          for (id, column) in ["", "raw", "optional", "plain", "many"].enumerated().dropFirst() {
            for read in [
              { _ = try context.find(New.self, id: id) },
              { _ = try context.update(New.self, id: id) { $0.raw = .sketch } },
              { _ = try context.fetch(FetchDescriptor<New>(predicate: #Predicate { $0.id == id })) },
              { _ = try container.viewContext.find(New.self, id: id) },
              { _ = try container.viewContext.query(FetchDescriptor<New>(predicate: #Predicate { $0.id == id })) },
            ] as [() throws -> Void] {
              #expect {
                try read()
              } throws: { error in
                guard case StoreError.unreadableColumn("Item", "\(id)", column, _) = error else { return false }
                return true
              }
            }
          }
          #expect(throws: StoreError.self) { _ = try context.fetch(FetchDescriptor<New>()) }
          #expect(try context.count(FetchDescriptor<New>()) == 5)
          try context.save()
        }
        let found = try run(Item<Earlier.Kind>.self, in: folder) { container in
          try container.newBackgroundContext().fetch(FetchDescriptor<Item<Earlier.Kind>>())
        }
        #expect(found == items)
      }
    }

    @Test("A property with another name takes the values over by a migration, once")
    func migrated() throws {
      try withFolder { folder in
        _ = try makeFile(in: folder)
        func renamed(_ column: String) -> ColumnMigration {
          ColumnMigration("new_" + column, of: Item<Latest.Kind>.self) { old in
            guard case .text(let text) = old[column] else { return old[column] }
            return .text(text.replacingOccurrences(of: "draft", with: "sketch"))
          }
        }
        let migrations = ["raw", "optional", "plain", "many"].map(renamed)
        var items = (0...4).map { Item<Latest.Kind>(id: $0) }
        items[1].raw = .sketch
        items[2].optional = .sketch
        items[3].plain = .sketch
        items[4].many = [.done, .sketch]
        for _ in 0..<2 {
          let found = try run(Item<Latest.Kind>.self, in: folder, migrations) { container in
            try container.newBackgroundContext().fetch(FetchDescriptor<Item<Latest.Kind>>())
          }
          #expect(found == items)
        }
      }
    }
  }
#endif
