#if Persistence
  import ConcordPersistence
  import Foundation
  import Testing

  private enum Earlier {
    enum Medium: PersistentWrapper, Equatable {
      case text(String), audio(Int)

      var text: String? { if case .text(let value) = self { value } else { nil } }
      var audio: Int? { if case .audio(let value) = self { value } else { nil } }

      func wrappedEntitiesKeyPaths<Root>(
        relativeTo parent: WritableKeyPath<Root, Medium>
      ) -> [PartialIdentifiableKeyPath<Root>] { [] }

      var persistentCase: String { if case .text = self { "text" } else { "audio" } }
      static let persistentProperties: [PersistentProperty<Medium>] = [.init("text", \.text), .init("audio", \.audio)]

      init(case name: String, from row: inout RowReader) throws {
        let (text, audio): (String?, Int?) = (try row.read(), try row.read())
        switch (name, text, audio) {
        case ("text", let text?, _): self = .text(text)
        case ("audio", _, let audio?): self = .audio(audio)
        default: throw StoreError.unknownCase(name, of: Medium.self)
        }
      }
      func write(to row: inout RowWriter) throws {
        try row.write(text)
        try row.write(audio)
      }
    }
  }

  private enum Later {
    /// With another name of a case.
    enum Medium: PersistentWrapper, Equatable {
      case text(String), sound(Int)

      var text: String? { if case .text(let value) = self { value } else { nil } }
      var sound: Int? { if case .sound(let value) = self { value } else { nil } }

      func wrappedEntitiesKeyPaths<Root>(
        relativeTo parent: WritableKeyPath<Root, Medium>
      ) -> [PartialIdentifiableKeyPath<Root>] { [] }

      var persistentCase: String { if case .text = self { "text" } else { "sound" } }
      static let persistentProperties: [PersistentProperty<Medium>] = [.init("text", \.text), .init("sound", \.sound)]

      init(case name: String, from row: inout RowReader) throws {
        let (text, sound): (String?, Int?) = (try row.read(), try row.read())
        switch (name, text, sound) {
        case ("text", let text?, _): self = .text(text)
        case ("sound", _, let sound?): self = .sound(sound)
        default: throw StoreError.unknownCase(name, of: Medium.self)
        }
      }
      func write(to row: inout RowWriter) throws {
        try row.write(text)
        try row.write(sound)
      }
    }
  }

  private struct Item<Medium: PersistentWrapper & Equatable>: PersistentEntity, Equatable {
    static var entityName: String { "Item" }
    let id: Int
    var medium: Medium
    var more: [Medium] = []

    static var persistentProperties: [PersistentProperty<Self>] {
      [.init("id", \.id), .init("medium", \.medium), .init("more", \.more)]
    }
    init(id: Int, medium: Medium, more: [Medium] = []) { (self.id, self.medium, self.more) = (id, medium, more) }
    init(from row: inout RowReader) throws {
      self.init(id: try row.read(), medium: try row.read(), more: try row.read())
    }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(medium)
      try row.write(more)
    }
  }

  @Suite("Wrappers whose cases are others")
  struct WrapperCasesTests {
    private func run<R>(
      _ type: any PersistentEntity.Type, in folder: URL, _ migrations: [ColumnMigration] = [],
      _ body: (BackgroundContext) throws -> R
    ) throws -> R {
      let container = GenericPersistentContainer<ContextStrategy.Direct>(
        name: "Items", model: try Model("Items", entities: [type], migrations: migrations))
      let store = try container.attachPersistentStore(at: folder)
      defer { try? container.detach(persistentStore: store) }
      return try body(container.newBackgroundContext())
    }

    private func all(_ context: BackgroundContext) throws -> [Item<Later.Medium>] {
      try context.fetch(FetchDescriptor())
    }

    @Test("A file with values of a case that was renamed or removed is refused, and keeps them")
    func refused() throws {
      try withFolder { folder in
        let old = [
          Item<Earlier.Medium>(id: 1, medium: .audio(5)),
          Item<Earlier.Medium>(id: 2, medium: .text("a"), more: [.audio(7)]),
        ]
        try run(Item<Earlier.Medium>.self, in: folder) { context in
          for item in old { context.insert(item) }
          try context.save()
        }
        #expect(
          reason { _ = try run(Item<Later.Medium>.self, in: folder) { try all($0) } }
            == "the store 'Items.sqlite' does not fit the model: Item.medium_audio is not in the model, and a case holds it in 1 "
            + "row; Item_more.more_audio is not in the model, and a case holds it in 1 row")
        let found = try run(Item<Earlier.Medium>.self, in: folder) { context -> [Item<Earlier.Medium>] in
          try context.fetch(FetchDescriptor())
        }
        #expect(found == old)
      }
    }

    @Test("A file without such values is migrated; a migration of the case carries them over, once")
    func migrated() throws {
      try withFolder { folder in
        try run(Item<Earlier.Medium>.self, in: folder) { context in
          context.insert(Item<Earlier.Medium>(id: 1, medium: .text("a"), more: [.text("b")]))
          try context.save()
        }
        let found = try run(Item<Later.Medium>.self, in: folder) { try all($0) }
        #expect(found == [Item(id: 1, medium: .text("a"), more: [.text("b")])])
      }
      try withFolder { folder in
        try run(Item<Earlier.Medium>.self, in: folder) { context in
          context.insert(Item<Earlier.Medium>(id: 1, medium: .audio(5)))
          context.insert(Item<Earlier.Medium>(id: 2, medium: .text("a")))
          try context.save()
        }
        let migrations = [
          ColumnMigration("medium", of: Item<Later.Medium>.self) { old in
            old["medium"] == .text("audio") ? .text("sound") : old["medium"]
          },
          ColumnMigration("medium_sound", of: Item<Later.Medium>.self) { old in old["medium_audio"] },
        ]
        for _ in 0..<2 {
          let found = try run(Item<Later.Medium>.self, in: folder, migrations) { try all($0) }
          #expect(found == [Item(id: 1, medium: .sound(5)), Item(id: 2, medium: .text("a"))])
        }
      }
    }
  }
#endif
