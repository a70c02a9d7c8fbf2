import Foundation
import Testing

@testable import ConcordConnect

@Suite("Merging what a web service returned")
struct MergeTests {
  private func book(_ id: Int, _ title: String = "Emma", price: Double = 0, shelf: Int = 0, edited: Bool = false)
    -> Book
  {
    Book(id: id, title: title, price: price, shelf: shelf, isEdited: edited)
  }

  @Test(
    "What is new is inserted, what differs updated, what is missing deleted, what is the same left",
    arguments: StoreKind.allCases)
  func basics(_ kind: StoreKind) async throws {
    let after = try await merged(kind, Book.self, before: [book(1), book(2), book(3)]) { context in
      try context.merge(objects: [book(2, "Persuasion"), book(3), book(4)], for: Book.self)
      #expect(!context.hasChanges)
    }
    #expect(after == [book(2, "Persuasion"), book(3), book(4)])
  }

  @Test("Nothing returned deletes all, into nothing stored all is inserted", arguments: StoreKind.allCases)
  func empty(_ kind: StoreKind) async throws {
    let none = try await merged(kind, Book.self, before: [book(1), book(2)]) {
      try $0.merge(objects: [], for: Book.self)
    }
    #expect(none.isEmpty)
    let all = try await merged(kind, Book.self, before: []) {
      try $0.merge(objects: [book(2), book(1)], for: Book.self)
    }
    #expect(all == [book(1), book(2)])
  }

  @Test("Objects may come in any order; of several of one entity the last counts", arguments: StoreKind.allCases)
  func unordered(_ kind: StoreKind) async throws {
    let after = try await merged(kind, Book.self, before: [book(2), book(5), book(9)]) { context in
      try context.merge(
        objects: [book(9), book(1, "a"), book(5, "first"), book(3), book(1, "b"), book(5, "last"), book(1, "c")],
        for: Book.self)
    }
    #expect(after == [book(1, "c"), book(3), book(5, "last"), book(9)])
  }

  @Test("Only the subset that was asked for is deleted from", arguments: StoreKind.allCases)
  func subset(_ kind: StoreKind) async throws {
    let before = [book(1, shelf: 1), book(2, shelf: 1), book(3, shelf: 2), book(4, shelf: 2)]
    let after = try await merged(kind, Book.self, before: before) { context in
      // 3 has been moved to the shelf, 5 is new.
      try context.merge(
        objects: [book(2, shelf: 1), book(3, "moved", shelf: 1), book(5, shelf: 1)], for: Book.self,
        subsetFilter: #Predicate { $0.shelf == 1 })
    }
    #expect(after == [book(2, shelf: 1), book(3, "moved", shelf: 1), book(4, shelf: 2), book(5, shelf: 1)])
  }

  @Test("A subset that a store cannot evaluate gives the same", arguments: StoreKind.allCases)
  func inexactSubset(_ kind: StoreKind) async throws {
    let after = try await merged(kind, Book.self, before: [book(1, "abc"), book(2, "abd"), book(3, "xyz")]) { context in
      try context.merge(
        objects: [book(2, "abe"), book(3, "abz")], for: Book.self, subsetFilter: #Predicate { $0.title.contains("ab") })
    }
    #expect(after == [book(2, "abe"), book(3, "abz")])
  }

  @Test("Only what fulfils the condition is updated or deleted; inserts need none", arguments: StoreKind.allCases)
  func condition(_ kind: StoreKind) async throws {
    let before = [book(1), book(2, edited: true), book(3), book(4, edited: true)]
    let after = try await merged(kind, Book.self, before: before) { context in
      try context.merge(
        objects: [book(1, "new"), book(2, "new"), book(5, "new", edited: true)], for: Book.self,
        condition: #Predicate { !$0.isEdited })
    }
    #expect(after == [book(1, "new"), book(2, edited: true), book(4, edited: true), book(5, "new", edited: true)])
  }

  @Test("A condition that a store cannot evaluate gives the same", arguments: StoreKind.allCases)
  func inexactCondition(_ kind: StoreKind) async throws {
    let after = try await merged(kind, Book.self, before: [book(1, "keep it"), book(2, "b"), book(3, "keep it")]) {
      context in
      try context.merge(
        objects: [book(1, "new"), book(2, "new")], for: Book.self,
        condition: #Predicate { !$0.title.starts(with: "keep") })
    }
    #expect(after == [book(1, "keep it"), book(2, "new"), book(3, "keep it")])
  }

  @Test("The condition also guards what is stored outside of the subset", arguments: StoreKind.allCases)
  func conditionOutside(_ kind: StoreKind) async throws {
    let after = try await merged(kind, Book.self, before: [book(1, shelf: 2, edited: true), book(2, shelf: 2)]) {
      context in
      try context.merge(
        objects: [book(1, "new", shelf: 1), book(2, "new", shelf: 1)], for: Book.self,
        subsetFilter: #Predicate { $0.shelf == 1 }, condition: #Predicate { !$0.isEdited })
    }
    #expect(after == [book(1, shelf: 2, edited: true), book(2, "new", shelf: 1)])
  }

  @Test(
    "Ignored attributes stay as they are stored, also if nothing else differs; what is inserted has them",
    arguments: StoreKind.allCases)
  func ignored(_ kind: StoreKind) async throws {
    let after = try await merged(kind, Book.self, before: [book(1, price: 7), book(2, price: 8)]) { context in
      try context.merge(
        objects: [book(1, "new", price: 1), book(2, price: 1), book(3, price: 1)], for: Book.self,
        ignoreAttributes: ["price"])
      let counts = context.statistics
      #expect(counts.changes == [1, 1, 0])
    }
    #expect(after == [book(1, "new", price: 7), book(2, price: 8), book(3, price: 1)])
  }

  @Test("What is stored and fresher than the objects stays", arguments: StoreKind.allCases)
  func stale(_ kind: StoreKind) async throws {
    try await withConnect(kind) { connect in
      let context = BackgroundContext(parent: connect.persistentStoreCoordinator)
      context.insert(book(1), modifiedAt: 10)
      context.insert(book(2), modifiedAt: 20)
      context.insert(book(3), modifiedAt: 20)
      try context.save()
      let proxy = try connect.execute(
        BookWork { context in
          try context.merge(objects: [book(1, "new"), book(2, "new")], for: Book.self, modifiedAt: 15)
        })
      #expect(await proxy.finished() == .successful)
      #expect(try connect.stored(Book.self) == [book(1, "new"), book(2), book(3)])
    }
  }

  @Test("What the context has not saved is a part of what is stored", arguments: StoreKind.allCases)
  func pending(_ kind: StoreKind) async throws {
    let after = try await merged(kind, Book.self, before: [book(1), book(2), book(3)]) { context in
      context.insert(book(4, "unsaved"))
      context.insert(book(5, "unsaved"))
      try context.delete(Book.self, id: 3)
      try context.update(Book.self, id: 2) { $0.title = "unsaved" }
      try context.merge(objects: [book(1), book(3, "again"), book(5, "merged")], for: Book.self)
    }
    #expect(after == [book(1), book(3, "again"), book(5, "merged")])
  }

  @Test(
    "What is unmanaged, has no name or an attribute that is not there is refused by name", arguments: StoreKind.allCases
  )
  func refused(_ kind: StoreKind) async throws {
    let errors = Log<Errors>()
    _ = try await merged(kind, Book.self, before: []) { context in
      func refuse(_ body: () throws -> Void) throws {
        do { try body() } catch let error as Errors { errors.add(error) }
      }
      try refuse { try context.merge(objects: [Stranger(id: 1)], for: Stranger.self) }
      try refuse { try context.merge(objects: [Misnamed(id: 1)], for: Misnamed.self) }
      try refuse { try context.merge(objects: [book(1)], for: Book.self, ignoreAttributes: ["colour"]) }
      try refuse { try context.merge(objects: [Nameless(id: 1)], for: Nameless.self) }
    }
    #expect(
      errors.entries == [
        .unmanagedEntity("Entity 'Stranger' not managed, cannot merge objects"),
        .unmanagedEntity("Entity 'Misnamed' has no plain attribute 'isbn' to be unique by"),
        .unknownAttribute("Entity 'Book' has no attribute 'colour' to ignore"),
        .missingEntityName("Nameless has no name, cannot merge objects"),
      ])
  }

  struct Nameless: PersistentEntity {
    let id: Int
    static let entityName = ""
    static let persistentProperties: [PersistentProperty<Nameless>] = [.init("id", \.id)]
    init(from row: inout RowReader) throws { id = try row.read() }
    func write(to row: inout RowWriter) throws { try row.write(id) }
    init(id: Int) { self.id = id }
  }

  @Test("A merge that fails changes nothing, neither stored nor pending", arguments: StoreKind.allCases)
  func failing(_ kind: StoreKind) async throws {
    let before = [Volume("a", "X", 1, "one"), Volume("b", "X", nil, "none")]
    try await withConnect(kind) { connect in
      try connect.store(before)
      let proxy = try connect.execute(
        BookWork { context in
          #expect(throws: StoreError.self) {
            try context.merge(
              objects: [Volume("a", "X", 1, "new")], for: Volume.self,
              condition: #Predicate { $0.number! > 0 && $0.title.contains("n") })
          }
          #expect(!context.hasChanges)
        })
      #expect(await proxy.finished() == .successful)
      #expect(try connect.stored(Volume.self) == before)
    }
  }

  /// No two have the same slug.
  struct Label: PersistentEntity, Equatable {
    let id: Int
    var slug: String
    static let persistentProperties: [PersistentProperty<Label>] = [.init("id", \.id), .init("slug", \.slug, .unique)]
    init(from row: inout RowReader) throws { self.init(id: try row.read(), slug: try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(slug)
    }
    init(id: Int, slug: String) { (self.id, self.slug) = (id, slug) }
  }

  @Test(
    "A merge that cannot be saved leaves nothing of it in the context, and what was unsaved before",
    arguments: StoreKind.allCases, [false, true])
  func failingSave(_ kind: StoreKind, hasChanges: Bool) async throws {
    try await withFolder { folder in
      let connect = TestConnect(name: "Labels", model: try Model("Labels", entities: [Label.self]))
      try connect.attachPersistentStore(at: folder, for: kind.configuration(folder))
      try await connect.start()
      try connect.store([Label(id: 1, slug: "a")])
      let context: ActionContext = connect.newGenericBackgroundContext()
      if hasChanges { context.insert(Label(id: 9, slug: "unsaved")) }
      #expect(throws: StoreError.self) { try context.merge(page: [Label(id: 2, slug: "a")], for: Label.self) }
      #expect(context.hasChanges == hasChanges)
      try context.merge(page: [Label(id: 3, slug: "c")], for: Label.self)
      #expect(try connect.stored(Label.self).map(\.id).sorted() == (hasChanges ? [1, 3, 9] : [1, 3]))
      try await connect.stop()
    }
  }

  @Test("A live query hears of what a merge changed, and of nothing else", arguments: StoreKind.allCases)
  func liveQuery(_ kind: StoreKind) async throws {
    try await withConnect(kind) { connect in
      try connect.store((1...100).map { book($0) })
      // What was saved before has been shown.
      try await connect.flush()
      let query = try connect.viewContext.query(FetchDescriptor<Book>())
      var changes = query.changes.makeAsyncIterator()
      #expect(await changes.next()?.insertions.count == 100)
      let proxy = try connect.execute(
        BookWork { context in
          try context.merge(objects: (2...101).map { book($0, $0 == 50 ? "other" : "Emma") }, for: Book.self)
        })
      await proxy.finished()
      let difference = try #require(await changes.next())
      // 1 and 101, and 50, which left as it was and came as it is.
      #expect(difference.insertions.count == 2 && difference.removals.count == 2)
      #expect(query.value.count == 100)
    }
  }

  @Test("A page of many ids that lie far apart is stored as one of few", arguments: StoreKind.forManyRows)
  func scattered(_ kind: StoreKind) async throws {
    let ids = (0..<3_000).map { $0 * 7_919 % 1_000_003 }
    let page = ids.prefix(1_300).map { book($0, "new") } + (0..<700).map { book(2_000_000 + $0, "inserted") }
    let after = try await withConnect(kind) { connect in
      try connect.store(ids.map { book($0) })
      let proxy = try connect.execute(BookWork { try $0.merge(page: page, for: Book.self) })
      await proxy.finished()
      #expect(proxy.statistics.contextStatistics?.changes == [700, 1_300, 0])
      return try connect.stored(Book.self)
    }
    let expected = page + ids.dropFirst(1_300).map { book($0) }
    #expect(after == expected.sorted { $0.id < $1.id })
  }

  @Test("100,000 objects in one pass", arguments: StoreKind.forManyRows)
  func many(_ kind: StoreKind) async throws {
    try await withConnect(kind) { connect in
      let count = 100_000
      let all = (0..<count).map { book($0, "Book \($0)") }
      let first = try connect.execute(BookWork { try $0.merge(objects: all.reversed(), for: Book.self) })
      await first.finished()
      #expect(first.statistics.contextStatistics?.inserts == count)
      let same = try connect.execute(BookWork { try $0.merge(objects: all, for: Book.self) })
      await same.finished()
      let untouched = try #require(same.statistics.contextStatistics)
      #expect(untouched.changes == [0, 0, 0])
      #expect(untouched.fetches == count)
      let next = (0..<count).filter { $0 % 10 != 0 }.map { book($0, $0 % 3 == 0 ? "new" : "Book \($0)") }
      let second = try connect.execute(BookWork { try $0.merge(objects: next, for: Book.self) })
      await second.finished()
      let statistics = try #require(second.statistics.contextStatistics)
      #expect(statistics.changes == [0, 30_000, 10_000])
      #expect(try connect.stored(Book.self) == next)
    }
  }
}
