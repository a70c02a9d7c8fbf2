import Foundation
import Testing

@testable import ConcordPersistence

@Suite("Relations on disk")
struct RelationTests {
  let steinbeck = Author(id: "steinbeck", name: "John Steinbeck")
  let austen = Author(id: "austen", name: "Jane Austen")
  let good = Review(id: 1, text: "good", stars: 5)
  let bad = Review(id: 2, text: "bad", stars: 1)
  let poor = Review(id: 3, text: "poor")

  var full: Book {
    Book(
      id: "ACK", title: "Cannery Row", isbn: "1", author: steinbeck, editor: austen, reviews: [bad, good, bad],
      excerpts: [poor], tags: [good, poor], byLanguage: ["en": good, "": bad], byNumber: [3: austen, -1: steinbeck],
      medium: .required(poor), cover: .author(nil),
      extras: [.author(austen), .note("\0"), .none, .required(good), .author(nil)])
  }

  @Test("A relation of every shape comes back, in its order", arguments: StoreKind.allCases)
  func everyShape(_ kind: StoreKind) throws {
    try kind.withCoordinator(libraryModel()) { coordinator in
      let context = coordinator.newContext()
      context.insert(full)
      #expect(try context.find(Book.self, id: "ACK") == full)
      try context.save()
      #expect(try coordinator.newContext().find(Book.self, id: "ACK") == full)
      #expect(try coordinator.newContext().fetch(FetchDescriptor<Book>()) == [full])
      #expect(try coordinator.newContext().count(FetchDescriptor<Review>()) == 3)
    }
  }

  @Test("Nothing, an empty collection and nil are told apart", arguments: StoreKind.allCases)
  func emptyAgainstNil(_ kind: StoreKind) throws {
    try kind.withCoordinator(libraryModel()) { coordinator in
      let context = coordinator.newContext()
      for (id, book) in [
        ("a", Book(id: "a", title: "", author: austen)),
        ("b", Book(id: "b", title: "", author: austen, excerpts: [], byNumber: [:], cover: Medium.none)),
      ] {
        context.insert(book)
        try context.save()
        #expect(try coordinator.newContext().find(Book.self, id: id) == book)
      }
    }
  }

  @Test("An entity is stored once, and shows its newest value wherever it stands", arguments: StoreKind.allCases)
  func storedOnce(_ kind: StoreKind) throws {
    try kind.withCoordinator(libraryModel()) { coordinator in
      let context = coordinator.newContext()
      context.insert(full)
      context.insert(Book(id: "other", title: "Emma", author: austen, reviews: [good]))
      try context.save()
      let second = coordinator.newContext()
      try second.update(Author.self, id: "austen") { $0.name = "Jane" }
      try second.save()
      let book = try #require(try context.find(Book.self, id: "ACK"))
      #expect(book.editor?.name == "Jane")
      #expect(book.byNumber?[3]?.name == "Jane")
      #expect(book.extras.first?.author?.name == "Jane")
      #expect(try context.find(Book.self, id: "other")?.author.name == "Jane")
    }
  }

  @Test("An edit of what an aggregate contains changes that alone", arguments: StoreKind.allCases)
  func nestedEdit(_ kind: StoreKind) throws {
    try kind.withCoordinator(libraryModel()) { coordinator in
      let context = coordinator.newContext()
      context.insert(full)
      try context.save()
      try context.update(Book.self, id: "ACK") { $0.author.name = "J. S." }
      #expect(context.updatedObjects.map { "\(type(of: $0))" } == ["Author"])
      try context.save()
      #expect(try context.find(Author.self, id: "steinbeck")?.name == "J. S.")
      #expect(try context.update(Book.self, id: "ACK") { _ in })
      #expect(!context.hasChanges)
    }
  }

  @Test(
    "A removed entity is taken out of collections, of optionals and of wrappers, saved or not",
    arguments: StoreKind.allCases, [false, true])
  func removal(_ kind: StoreKind, _ isSavedBefore: Bool) throws {
    try kind.withCoordinator(libraryModel()) { coordinator in
      let context = coordinator.newContext()
      context.insert(full)
      if isSavedBefore { try context.save() }
      #expect(try context.delete(Author.self, id: "austen"))
      #expect(try context.delete(Review.self, id: 2))
      #expect(try context.delete(Review.self, id: 2) == false)
      var expected = full
      expected.editor = nil
      expected.reviews = [good]
      expected.byLanguage = ["en": good]
      expected.byNumber = [-1: steinbeck]
      expected.extras[0] = .author(nil)
      #expect(try context.find(Book.self, id: "ACK") == expected)
      try context.save()
      #expect(try coordinator.newContext().find(Book.self, id: "ACK") == expected)
      #expect(try coordinator.newContext().count(FetchDescriptor<Author>()) == 1)
    }
  }

  @Test("A parent that requires a removed entity goes with it", arguments: StoreKind.allCases)
  func requiredRemoval(_ kind: StoreKind) throws {
    try kind.withCoordinator(libraryModel()) { coordinator in
      let context = coordinator.newContext()
      context.insert(full)
      try context.save()
      // The wrapper's setter ignores nil.
      try context.delete(Review.self, id: 3)
      #expect(try context.find(Book.self, id: "ACK") == nil)
      #expect(try context.count(FetchDescriptor<Book>()) == 0)
      context.rollback()
      #expect(try context.find(Book.self, id: "ACK") == full)
      try context.delete(Author.self, id: "steinbeck")
      try context.save()
      #expect(try coordinator.newContext().find(Book.self, id: "ACK") == nil)
      #expect(try coordinator.newContext().count(FetchDescriptor<Review>()) == 3)
    }
  }

  @Test("What another context has inserted meanwhile loses a removed entity, too", arguments: StoreKind.allCases)
  func removalMeetsInsertion(_ kind: StoreKind) throws {
    try kind.withCoordinator(libraryModel()) { coordinator in
      let (first, second) = (coordinator.newContext(), coordinator.newContext())
      first.insert(full)
      try first.save()
      try first.delete(Author.self, id: "austen")
      second.insert(Book(id: "emma", title: "Emma", author: steinbeck, editor: nil))
      try second.save()
      try second.update(Book.self, id: "emma") { $0.editor = try? second.find(Author.self, id: "austen") }
      try second.save()
      try first.save()
      #expect(try first.find(Author.self, id: "austen") == nil)
      #expect(try second.find(Book.self, id: "emma")?.editor == nil)
    }
  }

  @Test("A reference to what was removed meanwhile is taken out at the save", arguments: StoreKind.allCases)
  func insertionMeetsRemoval(_ kind: StoreKind) throws {
    try kind.withCoordinator(libraryModel()) { coordinator in
      let (first, second) = (coordinator.newContext(), coordinator.newContext())
      first.insert(Book(id: "emma", title: "Emma", author: austen, extras: [.note("")]))
      first.insert(bad)
      first.insert(good)
      try first.save()
      try second.update(Book.self, id: "emma") {
        $0.reviews = [good, bad]
        $0.extras.append(.author(steinbeck))
      }
      // Only the book's own row and a new author are pending: the reviews are stored already, and the same.
      #expect(second.insertedObjects.count == 1 && second.updatedObjects.count == 1)
      try first.delete(Review.self, id: 1)
      try first.save()
      try second.save()
      let emma = try #require(try first.find(Book.self, id: "emma"))
      #expect(emma.reviews == [bad])
      #expect(emma.extras == [.note(""), .author(steinbeck)])
    }
  }

  @Test(
    "A cycle comes back: each shows its own relations, and others of the cycle brief", arguments: StoreKind.allCases)
  func cycles(_ kind: StoreKind) throws {
    try kind.withCoordinator(libraryModel()) { coordinator in
      let context = coordinator.newContext()
      for id in 0..<3 { context.insert(Person(id: id, name: "\(id)")) }
      try context.save()
      for id in 0..<3 {
        let friend = try #require(try context.find(Person.self, id: (id + 1) % 3))
        try context.update(Person.self, id: id) { $0.friends = [friend] }
        try context.save()
      }
      for id in 0..<3 {
        let person = try #require(try context.find(Person.self, id: id))
        #expect(person.friends == [Person(id: (id + 1) % 3, name: "\((id + 1) % 3)")])
      }
      // What is brief says nothing of what it leaves out.
      try context.update(Person.self, id: 0) { $0.friends[0].name = "one" }
      let zero = try #require(try context.find(Person.self, id: 0))
      context.insert(zero)
      try context.save()
      #expect(try context.find(Person.self, id: 1)?.friends.map(\.id) == [2])
      #expect(try context.find(Person.self, id: 1)?.name == "one")
      #expect(try context.fetch(FetchDescriptor<Person>()).map { $0.friends.count } == [1, 1, 1])
    }
  }

  @Test("A cycle through wrappers comes back, and each keeps its own", arguments: StoreKind.allCases)
  func cyclesThroughWrappers(_ kind: StoreKind) throws {
    try kind.withCoordinator(libraryModel()) { coordinator in
      let context = coordinator.newContext()
      for id in 0..<2 { context.insert(Station(id: id, name: "\(id)")) }
      for id in 0..<2 {
        let other = try #require(try context.find(Station.self, id: 1 - id))
        try context.update(Station.self, id: id) {
          $0.links = [.end, .to(other)]
          $0.main = [.to(other)]
        }
      }
      try context.save()
      for id in 0..<2 {
        let other = Station(id: 1 - id, name: "\(1 - id)", links: [], main: [])
        #expect(
          try coordinator.newContext().find(Station.self, id: id)
            == Station(id: id, name: "\(id)", links: [.end, .to(other)], main: [.to(other)]))
      }
    }
  }

  @Test("Entities that require each other in a circle are a typed error", arguments: StoreKind.allCases)
  func endlessValue(_ kind: StoreKind) throws {
    try kind.withCoordinator(libraryModel()) { coordinator in
      let context = coordinator.newContext()
      for id in 1...2 { context.insert(Ring(id: id, next: .end)) }
      for id in 1...2 {
        let other = try #require(try context.find(Ring.self, id: 3 - id))
        try context.update(Ring.self, id: id) { $0.next = .to(other) }
      }
      try context.save()
      let reason = reason { _ = try context.find(Ring.self, id: 1) }
      #expect(reason?.hasSuffix(" requires itself") == true, "\(reason ?? "")")
    }
  }

  @Test("A long chain goes in and comes back as one value", arguments: StoreKind.allCases)
  func longChain(_ kind: StoreKind) throws {
    try kind.withCoordinator(libraryModel()) { coordinator in
      let context = coordinator.newContext()
      let count = kind.share(of: 10_000)
      var chain = Person(id: count, name: "last")
      for id in stride(from: count - 1, through: 0, by: -1) { chain = Person(id: id, name: "\(id)", friends: [chain]) }
      context.insert(chain)
      try context.save()
      #expect(try context.count(FetchDescriptor<Person>()) == count + 1)
      let found = try #require(try coordinator.newContext().find(Person.self, id: 0))
      var person = found
      var length = 0
      while let friend = person.friends.first {
        person = friend
        length += 1
      }
      #expect(length == count && person.name == "last")
    }
  }

  @Test("A reference that leads nowhere is a typed error", arguments: StoreKind.allCases)
  func danglingReference(_ kind: StoreKind) throws {
    let model = try libraryModel()
    try kind.withStore(model) { store in
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.attach(store, configuration: "")
      let context = coordinator.newContext()
      context.insert(full)
      try context.save()
      // As another program would do.
      try store.write(origin: nil) { try $0.delete(EntityKey(model.entity(Author.self), .text("austen"))) }
      #expect(
        reason { _ = try context.find(Book.self, id: "ACK") }
          == "a row refers to Author 'austen', which is not stored")
    }
  }

  @Test("What an update takes from inside of another entity empties nothing", arguments: StoreKind.allCases)
  func takenFromInside(_ kind: StoreKind) throws {
    try kind.withCoordinator(libraryModel()) { coordinator in
      let context = coordinator.newContext()
      let person = Person(id: 1, name: "one", team: Team(id: 1, name: "team"))
      context.insert(person)
      context.insert(Person(id: 2, name: "two"))
      try context.update(Team.self, id: 1) { $0.members = [1: person] }
      try context.save()
      let team = try #require(try context.find(Person.self, id: 1)?.team)
      #expect(team.members.isEmpty)
      try context.update(Person.self, id: 2) { $0.team = team }
      try context.save()
      #expect(try context.find(Person.self, id: 2)?.team?.name == "team")
      #expect(try context.find(Team.self, id: 1)?.members.keys.sorted() == [1])
    }
  }
}
