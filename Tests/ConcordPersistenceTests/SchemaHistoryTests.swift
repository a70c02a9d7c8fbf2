#if Persistence
  import Foundation
  import Testing

  @testable import ConcordPersistence

  /// A book as the first program had it.
  private struct First: PersistentEntity, Equatable {
    static let entityName = "Book"
    let id: Int
    var title: String
    var year: String

    static let persistentProperties: [PersistentProperty<First>] = [
      .init("id", \.id), .init("title", \.title), .init("year", \.year),
    ]
    init(id: Int, title: String, year: String) { (self.id, self.title, self.year) = (id, title, year) }
    init(from row: inout RowReader) throws {
      self.init(id: try row.read(), title: try row.read(), year: try row.read())
    }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(title)
      try row.write(year)
    }
  }

  /// The same, with the properties in another order.
  private struct Reordered: PersistentEntity, Equatable {
    static let entityName = "Book"
    let id: Int
    var year: String
    var title: String

    static let persistentProperties: [PersistentProperty<Reordered>] = [
      .init("year", \.year), .init("id", \.id), .init("title", \.title),
    ]
    init(from row: inout RowReader) throws { (year, id, title) = (try row.read(), try row.read(), try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(year)
      try row.write(id)
      try row.write(title)
    }
  }

  /// The year has become a number.
  private struct Second: PersistentEntity, Equatable {
    static let entityName = "Book"
    let id: Int
    var title: String
    var year: Int

    static let persistentProperties: [PersistentProperty<Second>] = [
      .init("id", \.id), .init("title", \.title), .init("year", \.year),
    ]
    init(from row: inout RowReader) throws { (id, title, year) = (try row.read(), try row.read(), try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(title)
      try row.write(year)
    }
  }

  /// There is a rating as well.
  private struct Third: PersistentEntity, Equatable {
    static let entityName = "Book"
    let id: Int
    var title: String
    var year: Int
    var rating: Int

    static let persistentProperties: [PersistentProperty<Third>] = [
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

  /// Nobody may know the year any longer.
  private struct Fourth: PersistentEntity, Equatable {
    static let entityName = "Book"
    let id: Int
    var title: String
    var year: Int?

    static let persistentProperties: [PersistentProperty<Fourth>] = [
      .init("id", \.id), .init("title", \.title), .init("year", \.year),
    ]
    init(id: Int, title: String, year: Int?) { (self.id, self.title, self.year) = (id, title, year) }
    init(from row: inout RowReader) throws { (id, title, year) = (try row.read(), try row.read(), try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(title)
      try row.write(year)
    }
  }

  @Suite("A file through several versions of a program")
  struct SchemaHistoryTests {
    private typealias Container = GenericPersistentContainer<ContextStrategy.Direct>

    /// As the documentation has it: what is no text is a year that nobody knows.
    private func year(of type: any PersistentEntity.Type) -> ColumnMigration {
      ColumnMigration("year", of: type) { old in
        guard case .text(let text) = old["year"], let year = Int64(text) else { return .integer(0) }
        return .integer(year)
      }
    }

    /// Attaches the file, shows it, and detaches it.
    @discardableResult
    private func run<R>(
      _ type: any PersistentEntity.Type, in folder: URL, _ migrations: [ColumnMigration] = [], version: Int = 0,
      _ body: (BackgroundContext) throws -> R
    ) throws -> R {
      let model = try Model("L", entities: [type], migrations: migrations, version: version)
      let container = Container(name: "L", model: model)
      let store = try container.attachPersistentStore(at: folder)
      let result = try body(container.newBackgroundContext())
      try container.detach(persistentStore: store)
      return result
    }

    private func withFirst(_ body: (URL) throws -> Void) throws {
      try withFolder { folder in
        try run(First.self, in: folder) { context in
          context.insert(First(id: 1, title: "Emma", year: "1815"))
          try context.save()
        }
        try body(folder)
      }
    }

    @Test("A migration that stays in the model converts no column twice")
    func keptMigration() throws {
      try withFirst { folder in
        let years = try run(Second.self, in: folder, [year(of: Second.self)]) { context in
          try context.fetch(FetchDescriptor<Second>()).map(\.year)
        }
        #expect(years == [1815])
        let later = try run(Third.self, in: folder, [year(of: Third.self)]) { context in
          try context.fetch(FetchDescriptor<Third>()).map { [$0.year, $0.rating] }
        }
        #expect(later == [[1815, 5]])
      }
      // Who left one version out has all of it done at once.
      try withFirst { folder in
        let later = try run(Third.self, in: folder, [year(of: Third.self)]) { context in
          try context.fetch(FetchDescriptor<Third>()).map { [$0.year, $0.rating] }
        }
        #expect(later == [[1815, 5]])
      }
    }

    @Test("A migration that stays in the model converts no column again that becomes optional, or required")
    func keptMigrationOfAnOptional() throws {
      try withFirst { folder in
        try run(Second.self, in: folder, [year(of: Second.self)]) { _ in }
        let optional = try run(Fourth.self, in: folder, [year(of: Fourth.self)]) { context in
          context.insert(Fourth(id: 2, title: "Persuasion", year: nil))
          try context.save()
          return try context.fetch(FetchDescriptor<Fourth>(sortBy: [SortDescriptor(\.id)])).map(\.year)
        }
        #expect(optional == [1815, nil])
        // Where it is missing, the migration makes one.
        let required = try run(Second.self, in: folder, [year(of: Second.self)], version: 1) { context in
          try context.fetch(FetchDescriptor<Second>(sortBy: [SortDescriptor(\.id)])).map(\.year)
        }
        #expect(required == [1815, 0])
      }
    }

    @Test("A model may be again what it was, if it says that it is newer; then the one between the two is older")
    func thereAndBack() throws {
      try withFirst { folder in
        let text = ColumnMigration("year", of: First.self) { old in
          guard case .integer(let year) = old["year"] else { return .text("") }
          return .text("\(year)")
        }
        try run(Second.self, in: folder, [year(of: Second.self)]) { _ in }
        let newer = "the store 'L.sqlite' was migrated to a newer model"
        let (isNumber, isText) = ("Book.year is INTEGER, not TEXT", "Book.year is TEXT, not INTEGER")
        #expect(reason { try run(First.self, in: folder, [text]) { _ in } } == "\(newer): \(isNumber)")
        let years = try run(First.self, in: folder, [text], version: 1) { context in
          try context.fetch(FetchDescriptor<First>()).map(\.year)
        }
        #expect(years == ["1815"])
        #expect(
          reason { try run(Second.self, in: folder, [year(of: Second.self)]) { _ in } }
            == "\(newer): its version is 1, and the model's 0; \(isText)")
        // What fits is no older.
        #expect(try run(First.self, in: folder) { try $0.count(FetchDescriptor<First>()) } == 1)
        try run(Second.self, in: folder, [year(of: Second.self)], version: 2) { _ in }
        #expect(
          reason { try run(First.self, in: folder, [text], version: 1) { _ in } }
            == "\(newer): its version is 2, and the model's 1; \(isNumber)")
      }
    }

    @Test("An older program whose properties stand in another order does not migrate a newer file back")
    func reordered() throws {
      try withFirst { folder in
        try run(Third.self, in: folder, [year(of: Third.self)]) { context in
          try context.update(Third.self, id: 1) { $0.rating = 4 }
          try context.save()
        }
        let back = ColumnMigration("year", of: Reordered.self) { _ in .text("") }
        #expect(
          reason { try run(Reordered.self, in: folder, [back]) { _ in } }
            == "the store 'L.sqlite' was migrated to a newer model: Book.rating is not in the model; "
            + "Book.year is INTEGER, not TEXT")
        #expect(try run(Third.self, in: folder) { try $0.fetch(FetchDescriptor<Third>()).map(\.rating) } == [4])
      }
    }
  }
#endif
