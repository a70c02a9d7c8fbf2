import Foundation
import Testing

@testable import ConcordConnect

@Suite("Merging what a web service returned")
struct MergeTests {
  private func book(_ id: Int, _ title: String = "Emma", price: Double = 0, shelf: Int = 0, edited: Bool = false) -> Book {
    Book(id: id, title: title, price: price, shelf: shelf, isEdited: edited)
  }

  /// Merges within an action, and gives what is stored afterwards.
  private func merged<T: PersistentEntity>(
    _ kind: StoreKind, _ type: T.Type, before: [any PersistentEntity],
    _ body: @escaping @Sendable (ActionContext) throws -> Void
  ) async throws -> [T] {
    try await withConnect(kind) { connect in
      func store<E: PersistentEntity>(_ value: E) throws { try connect.store([value]) }
      for value in before { try store(value) }
      let proxy = try connect.execute(BookWork { context in try body(context) })
      await proxy.finished()
      if let error = proxy.error { throw error }
      return try connect.stored(type)
    }
  }

  @Test("What is new is inserted, what differs updated, what is missing deleted, what is the same left", arguments: StoreKind.allCases)
  func basics(_ kind: StoreKind) async throws {
    let after = try await merged(kind, Book.self, before: [book(1), book(2), book(3)]) { context in
      try context.merge(objects: [book(2, "Persuasion"), book(3), book(4)], for: Book.self)
      #expect(!context.hasChanges)
    }
    #expect(after == [book(2, "Persuasion"), book(3), book(4)])
  }

  @Test("Nothing returned deletes all, into nothing stored all is inserted", arguments: StoreKind.allCases)
  func empty(_ kind: StoreKind) async throws {
    let none = try await merged(kind, Book.self, before: [book(1), book(2)]) { try $0.merge(objects: [], for: Book.self) }
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
        objects: [book(1, "new"), book(2, "new")], for: Book.self, condition: #Predicate { !$0.title.starts(with: "keep") })
    }
    #expect(after == [book(1, "keep it"), book(2, "new"), book(3, "keep it")])
  }

  @Test("The condition also guards what is stored outside of the subset", arguments: StoreKind.allCases)
  func conditionOutside(_ kind: StoreKind) async throws {
    let after = try await merged(kind, Book.self, before: [book(1, shelf: 2, edited: true), book(2, shelf: 2)]) { context in
      try context.merge(
        objects: [book(1, "new", shelf: 1), book(2, "new", shelf: 1)], for: Book.self,
        subsetFilter: #Predicate { $0.shelf == 1 }, condition: #Predicate { !$0.isEdited })
    }
    #expect(after == [book(1, shelf: 2, edited: true), book(2, "new", shelf: 1)])
  }

  @Test("Ignored attributes stay as they are stored, also if nothing else differs; what is inserted has them", arguments: StoreKind.allCases)
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

  @Test("Entities are found by several attributes, and keep the ids that they are stored with", arguments: StoreKind.allCases)
  func composite(_ kind: StoreKind) async throws {
    let before = [Volume("a", "X", 1, "one"), Volume("b", "X", 2, "two"), Volume("c", "Y", nil, "none")]
    let after = try await merged(kind, Volume.self, before: before) { context in
      try context.merge(
        objects: [
          Volume("new", "Y", 1, "inserted"), Volume("other", "Y", nil, "updated"), Volume("x", "X", 2, "two"),
          Volume("d", "X", 3, "twice"), Volume("e", "X", 3, "the last"),
        ], for: Volume.self)
    }
    #expect(
      after == [
        Volume("b", "X", 2, "two"), Volume("c", "Y", nil, "updated"), Volume("e", "X", 3, "the last"),
        Volume("new", "Y", 1, "inserted"),
      ])
  }

  @Test("An entity whose attributes have changed, and not its id, is updated", arguments: StoreKind.allCases)
  func compositeMoved(_ kind: StoreKind) async throws {
    let after = try await merged(kind, Volume.self, before: [Volume("a", "X", 1, "one"), Volume("b", "X", 2, "two")]) {
      try $0.merge(objects: [Volume("a", "Z", 9, "moved"), Volume("b", "X", 2, "two")], for: Volume.self)
    }
    #expect(after == [Volume("a", "Z", 9, "moved"), Volume("b", "X", 2, "two")])
  }

  @Test("With a subset, entities are found by their attributes outside of it, too", arguments: StoreKind.allCases)
  func compositeSubset(_ kind: StoreKind) async throws {
    let before = [Volume("a", "X", 1, "in"), Volume("b", "X", 2, "in"), Volume("c", "Y", 1, "out"), Volume("d", "Z", 1, "out")]
    let after = try await merged(kind, Volume.self, before: before) { context in
      try context.merge(
        objects: [Volume("q", "Y", 1, "found"), Volume("a", "X", 1, "in"), Volume("d", "V", 1, "by id")],
        for: Volume.self, subsetFilter: #Predicate { $0.title == "in" })
    }
    #expect(after == [Volume("a", "X", 1, "in"), Volume("c", "Y", 1, "found"), Volume("d", "V", 1, "by id")])
  }

  @Test("Two objects that would be one row are refused, and nothing changes", arguments: StoreKind.allCases)
  func compositeClash(_ kind: StoreKind) async throws {
    try await withConnect(kind) { connect in
      try connect.store([Volume("a", "X", 1, "one")])
      let proxy = try connect.execute(
        BookWork { context in
          // The first is the stored entity, whose id the second one has.
          try context.merge(objects: [Volume("b", "X", 1, "two"), Volume("a", "Y", 1, "three")], for: Volume.self)
        })
      #expect(await proxy.finished() == .failed)
      guard case .notUnique(let entity, _) = proxy.error as? StoreError else {
        Issue.record("\(String(describing: proxy.error))")
        return
      }
      #expect(entity == "Volume")
      #expect(try connect.stored(Volume.self) == [Volume("a", "X", 1, "one")])
    }
  }

  @Test("Ids of several parts", arguments: StoreKind.allCases)
  func compositeId(_ kind: StoreKind) async throws {
    @Sendable func copy(_ book: Int, _ number: Int, _ place: String) -> Copy { Copy(id: .init(book: book, number: number), place: place) }
    let after = try await merged(kind, Copy.self, before: [copy(1, 1, "a"), copy(1, 2, "b"), copy(2, 1, "c")]) {
      try $0.merge(objects: [copy(2, 1, "d"), copy(1, 2, "b"), copy(3, 1, "e")], for: Copy.self)
    }
    #expect(Set(after.map { "\($0.id.book) \($0.id.number) \($0.place)" }) == ["2 1 d", "1 2 b", "3 1 e"])
  }

  @Test("Entities inside are stored with the objects; none of them is deleted", arguments: StoreKind.allCases)
  func nested(_ kind: StoreKind) async throws {
    let (jane, anne) = (Author(id: 1, name: "Jane"), Author(id: 2, name: "Anne"))
    try await withConnect(kind) { connect in
      try connect.store([Novel(id: 1, title: "Emma", author: jane), Novel(id: 2, title: "Agnes Grey", author: anne)])
      let proxy = try connect.execute(
        BookWork { context in
          try context.merge(
            objects: [Novel(id: 1, title: "Emma", author: Author(id: 1, name: "J. Austen")),
              Novel(id: 3, title: "New", author: Author(id: 3, name: "Mary"))], for: Novel.self)
          let counts = context.statistics
          #expect(counts.changes == [2, 1, 1])
        })
      #expect(await proxy.finished() == .successful)
      #expect(try connect.stored(Author.self).map(\.name) == ["J. Austen", "Anne", "Mary"])
      #expect(try connect.stored(Novel.self).map(\.id) == [1, 3])
    }
  }

  @Test("What is inside of an object is not deleted for not standing on its own, and loses nothing by being brief", arguments: StoreKind.allCases)
  func recursive(_ kind: StoreKind) async throws {
    let jane = Author(id: 1, name: "Jane")
    let third = Novel(id: 3, title: "III", author: jane)
    let second = Novel(id: 2, title: "II", author: jane, sequels: [third])
    let first = Novel(id: 1, title: "I", author: jane, sequels: [second])
    let brief = Novel(id: 2, title: "II, revised", author: jane)
    try await withConnect(kind) { connect in
      try connect.store([first, Novel(id: 4, title: "IV", author: jane)])
      let proxy = try connect.execute(
        BookWork { context in
          try context.merge(
            objects: [Novel(id: 1, title: "I", author: jane, sequels: [brief]), third], for: Novel.self)
        })
      await proxy.finished()
      #expect(proxy.error == nil)
      let stored = try connect.stored(Novel.self)
      #expect(stored.map(\.id) == [1, 2, 3])
      #expect(stored.map(\.title) == ["I", "II, revised", "III"])
      #expect(stored.map { $0.sequels.map(\.id) } == [[2], [3], []])
    }
  }

  @Test("What is deleted leaves those that contain it", arguments: StoreKind.allCases)
  func deletedChild(_ kind: StoreKind) async throws {
    let (jane, anne) = (Author(id: 1, name: "Jane"), Author(id: 2, name: "Anne"))
    try await withConnect(kind) { connect in
      try connect.store([Novel(id: 1, title: "Emma", author: jane), Novel(id: 2, title: "Agnes Grey", author: anne)])
      let proxy = try connect.execute(AuthorWork { try $0.merge(objects: [jane], for: Author.self) })
      #expect(await proxy.finished() == .successful)
      // A novel requires its author.
      #expect(try connect.stored(Novel.self).map(\.id) == [1])
    }
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

  @Test("What is unmanaged, has no name or an attribute that is not there is refused by name", arguments: StoreKind.allCases)
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
          #expect(throws: PredicateError.self) {
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

  @Test("A live query hears of what a merge changed, and of nothing else", arguments: StoreKind.allCases)
  func liveQuery(_ kind: StoreKind) async throws {
    try await withConnect(kind) { connect in
      try connect.store((1...100).map { book($0) })
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

  @Test("100,000 objects in one pass", arguments: StoreKind.allCases)
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
      for proxy in [first, same, second] {
        print("merge \(kind): \(Int(proxy.statistics.executionTime * 1000)) ms")
      }
    }
  }
}
