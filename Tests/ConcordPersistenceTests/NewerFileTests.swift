#if Persistence
  import Concord
  import Foundation
  import GRDB
  import Testing

  @testable import ConcordPersistence

  /// A book as an old program has it.
  private struct OldBook: PersistentEntity, Equatable {
    static let entityName = "Book"
    let id: Int
    var year: String

    static let persistentProperties: [PersistentProperty<OldBook>] = [.init("id", \.id), .init("year", \.year)]
    init(id: Int, year: String) { (self.id, self.year) = (id, year) }
    init(from row: inout RowReader) throws { self.init(id: try row.read(), year: try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(year)
    }
  }

  /// The same with the year as a number, and a rating.
  private struct NewBook: PersistentEntity, Equatable {
    static let entityName = "Book"
    let id: Int
    var year: Int
    var rating: Int

    static let persistentProperties: [PersistentProperty<NewBook>] = [
      .init("id", \.id), .init("year", \.year), .init("rating", \.rating, default: 5),
    ]
    init(id: Int, year: Int, rating: Int) { (self.id, self.year, self.rating) = (id, year, rating) }
    init(from row: inout RowReader) throws {
      self.init(id: try row.read(), year: try row.read(), rating: try row.read())
    }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(year)
      try row.write(rating)
    }
  }

  @Suite("Files of newer programs")
  struct NewerFileTests {
    private func oldModel(version: Int = 0) throws -> Model {
      let year = ColumnMigration("year", of: OldBook.self) { old in
        guard case .integer(let year) = old["year"] else { return .text("") }
        return .text("\(year)")
      }
      return try Model("Library", entities: [OldBook.self], migrations: [year], version: version)
    }

    private func newModel(version: Int = 0) throws -> Model {
      let year = ColumnMigration("year", of: NewBook.self) { old in
        guard case .text(let text) = old["year"] else { return .integer(0) }
        return .integer(Int64(text) ?? 0)
      }
      return try Model("Library", entities: [NewBook.self], migrations: [year], version: version)
    }

    private func direct(_ model: Model) -> GenericPersistentContainer<ContextStrategy.Direct> {
      GenericPersistentContainer(name: "Library", model: model)
    }

    /// Makes a file with one book.
    private func make(_ folder: URL) throws {
      let container = direct(try oldModel())
      let store = try container.attachPersistentStore(at: folder)
      let context = container.newBackgroundContext()
      context.insert(OldBook(id: 1, year: "1815"))
      try context.save()
      try container.detach(persistentStore: store)
    }

    private let newer = "the store 'Library.sqlite' was migrated to a newer model"

    @Test("A newer file is never replaced, whether or not the newer program has it open")
    func neverReplaced() throws {
      for (oldVersion, newVersion) in [(0, 0), (1, 2)] {
        for isOpen in [true, false] {
          try withFolder { folder in
            try make(folder)
            let container = direct(try newModel(version: newVersion))
            let store = try container.attachPersistentStore(at: folder)
            if !isOpen { try container.detach(persistentStore: store) }
            let old = direct(try oldModel(version: oldVersion))
            let versions =
              oldVersion == newVersion ? "" : "its version is \(newVersion), and the model's \(oldVersion); "
            #expect(
              reason {
                try old.attachPersistentStore(at: folder, for: StoreConfiguration(overwriteIncompatibleStore: true))
              } == "\(newer): \(versions)Book.rating is not in the model; Book.year is INTEGER, not TEXT")
            #expect(
              try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { !$0.contains("-") }
                == ["Library.sqlite"])
            if !isOpen { try container.attachPersistentStore(at: folder) }
            let context = container.newBackgroundContext()
            #expect(try context.fetch(FetchDescriptor<NewBook>()) == [NewBook(id: 1, year: 1815, rating: 5)])
            context.insert(NewBook(id: 2, year: 1, rating: 1))
            try context.save()
          }
        }
      }
    }

    @Test("A file that does not fit is not replaced while others have it open")
    func openElsewhere() throws {
      try withFolder { folder in
        let container = direct(try newModel())
        let store = try container.attachPersistentStore(at: folder)
        let context = container.newBackgroundContext()
        context.insert(NewBook(id: 1, year: 1815, rating: 5))
        try context.save()
        let other = direct(try Model("Library", entities: [OldBook.self]))
        let configuration = StoreConfiguration(
          overwriteIncompatibleStore: true, options: [ConcordBusyTimeoutOption: 0.1])
        #expect(
          reason { try other.attachPersistentStore(at: folder, for: configuration) }
            == "the store 'Library.sqlite' is held by others")
        context.insert(NewBook(id: 2, year: 1, rating: 1))
        try context.save()
        try container.detach(persistentStore: store)
        try other.attachPersistentStore(at: folder, for: configuration)
        try container.attachPersistentStore(
          at: folder, for: StoreConfiguration(fileName: "Library.sqlite.incompatible"))
        #expect(try container.newBackgroundContext().fetch(FetchDescriptor<NewBook>()).count == 2)
      }
    }

    @Test(
      "A file that is migrated while an old program has it open takes nothing of that: its changes wait",
      arguments: [StrategyKind.direct, .mixed, .indirectNested])
    func migratedMeanwhile(_ strategy: StrategyKind) async throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "concord-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      try make(folder)
      let errors = Locked<[BackgroundSaveError]>([])
      let old = strategy.container(try oldModel()) { error in
        if let error = error as? BackgroundSaveError { errors.withLock { $0.append(error) } }
      }
      let store = try old.attachPersistentStore(at: folder)
      #expect(try old.stored(OldBook.self, id: 1)?.year == "1815")
      let new = direct(try newModel())
      try new.detach(persistentStore: new.attachPersistentStore(at: folder))

      // What would be text in a column of numbers.
      let view = old.viewContext
      view.insert(OldBook(id: 2, year: "about 1815"))
      if strategy.viewSavesToDisk {
        #expect(reason { try view.save() } == newer)
      } else {
        // From when on it is told, rather than later.
        let problem = reason { try view.save() }
        #expect(problem == nil || problem == newer)
        if problem == nil {
          #expect(try await eventually { errors.withLock { !$0.isEmpty } })
          #expect(errors.withLock { $0.allSatisfy { $0.isPending && "\($0.error)" == newer } })
          await #expect(throws: StoreError.self) { try await old.flush() }
        }
      }
      #expect(reason { _ = try old.stored(OldBook.self, id: 1) } == newer)

      // The file becomes again what it was, and takes what has waited.
      let back = direct(try oldModel(version: 1))
      try back.detach(persistentStore: back.attachPersistentStore(at: folder))
      if view.hasChanges { try view.save() }
      try await old.flush()
      #expect(try old.stored(OldBook.self, id: 2)?.year == "about 1815")
      #expect(try old.stored(OldBook.self, id: 1)?.year == "1815")
      try old.detach(persistentStore: store)
    }

    @Test("Without migration, nothing is added to a file either")
    func noMigration() throws {
      try withFolder { folder in
        try make(folder)
        for option in [NSMigratePersistentStoresAutomaticallyOption, NSInferMappingModelAutomaticallyOption] {
          let model = try Model("Library", entities: [OldBook.self, Review.self, Author.self])
          let configuration = StoreConfiguration(options: [option: false])
          let before = try Data(contentsOf: folder.appending(path: "Library.sqlite"))
          #expect(
            reason { try direct(model).attachPersistentStore(at: folder, for: configuration) }
              == "the store 'Library.sqlite' does not fit the model: Review is missing; Author is missing")
          #expect(try Data(contentsOf: folder.appending(path: "Library.sqlite")) == before)
          // A new file is made, and one that fits is attached.
          let container = direct(model)
          try container.attachPersistentStore(at: folder.appending(path: option), for: configuration)
          let same = direct(try oldModel())
          let store = try same.attachPersistentStore(at: folder, for: configuration)
          #expect(try same.stored(OldBook.self, id: 1)?.year == "1815")
          try same.detach(persistentStore: store)
        }
      }
    }
  }
#endif
