import Concord
import Foundation
import Testing

@testable import ConcordPersistence

@Suite("Store types")
struct StoreTests {
  private func key(_ id: Int) throws -> EntityKey { EntityKey(EntityDescription(Review.self), .integer(Int64(id))) }

  private func row(_ id: Int, _ text: String, stars: Int? = nil) throws -> StoredRow {
    try EntityDescription(Review.self).row(of: Review(id: id, text: text, stars: stars), stamp: 1)
  }

  @Test("A write that throws leaves nothing, and is told to nobody", arguments: StoreKind.allCases)
  func rollingBack(_ kind: StoreKind) throws {
    struct Refusal: Error {}
    try kind.withStore(libraryModel()) { store in
      try store.write(origin: nil) { _ = try $0.insert(row(1, "one"), for: key(1)) }
      #expect(throws: Refusal.self) {
        try store.write(origin: nil) { writing in
          _ = try writing.insert(row(2, "two"), for: key(2))
          try writing.update(row(1, "changed"), replacing: row(1, "one"), for: key(1))
          try writing.delete(key(1))
          #expect(try writing.row(of: key(1)) == nil)
          throw Refusal()
        }
      }
      #expect(try store.read { try $0.row(of: key(1)) } == row(1, "one"))
      #expect(try store.read { try $0.row(of: key(2)) } == nil)
    }
  }

  @Test("A row that is there is not inserted again", arguments: StoreKind.allCases)
  func insertingTwice(_ kind: StoreKind) throws {
    try kind.withStore(libraryModel()) { store in
      #expect(try store.write(origin: nil) { try $0.insert(row(1, "one"), for: key(1)) })
      #expect(try store.write(origin: nil) { try !$0.insert(row(1, "other"), for: key(1)) })
      #expect(try store.read { try $0.row(of: key(1)) } == row(1, "one"))
      try store.write(origin: nil) { try $0.delete(key(7)) }
    }
  }

  @Test("Each commit is told once, in order, with what it changed and who wrote it", arguments: StoreKind.allCases)
  func commits(_ kind: StoreKind) throws {
    try kind.withStore(libraryModel()) { store in
      let told = Locked<[StoreCommit]>([])
      let done = DispatchSemaphore(value: 0)
      var observation: StoreObservation? = store.observeCommits { commit in
        told.withLock { $0.append(commit) }
        done.signal()
      }
      let writer = NSObject()
      for id in 0..<50 {
        try store.write(origin: id % 2 == 0 ? ObjectIdentifier(writer) : nil) { writing in
          _ = try writing.insert(row(id, ""), for: key(id))
          if id > 0 { try writing.delete(key(id - 1)) }
        }
        // Reads are not told, nor writes that change nothing.
        try store.write(origin: nil) { _ = try $0.count(RowQuery(EntityDescription(Review.self))) }
      }
      for _ in 0..<50 { #expect(done.wait(timeout: .now() + 5) == .success) }
      let commits = told.withLock { $0 }
      #expect(commits.count == 50)
      for (id, commit) in commits.enumerated() {
        #expect(try commit.keys == (id > 0 ? [key(id), key(id - 1)] : [key(0)]))
        #expect(commit.origin == (id % 2 == 0 ? ObjectIdentifier(writer) : nil))
      }
      _ = observation
      observation = nil
      try store.write(origin: nil) { _ = try $0.insert(row(99, ""), for: key(99)) }
      #expect(done.wait(timeout: .now() + 0.1) == .timedOut)
    }
  }

  @Test("A reading sees one state, whatever is written meanwhile", arguments: StoreKind.allCases)
  func snapshot(_ kind: StoreKind) throws {
    try kind.withStore(libraryModel()) { store in
      try store.write(origin: nil) { _ = try $0.insert(row(0, "0"), for: key(0)) }
      let isDone = Locked(false)
      let group = DispatchGroup()
      DispatchQueue.global().async(group: group) {
        for step in 1...200 {
          _ = reason {
            try store.write(origin: nil) { writing in
              guard let old = try writing.row(of: key(0)) else { return }
              try writing.update(row(0, "\(step)"), replacing: old, for: key(0))
              _ = try writing.insert(row(step, ""), for: key(step))
            }
          }
        }
        isDone.withLock { $0 = true }
      }
      while !isDone.withLock({ $0 }) {
        try store.read { reading in
          let text = try #require(try reading.row(of: key(0))).values[1]
          #expect(try .text("\(reading.count(RowQuery(EntityDescription(Review.self))) - 1)") == text)
        }
      }
      group.wait()
    }
  }
}

@Suite("Several stores")
struct CoordinatorTests {
  @Test("An entity is kept in the store of its configuration, and refers across stores", arguments: StoreKind.allCases)
  func configurations(_ kind: StoreKind) throws {
    let model = try Model(
      "M", entities: [], configurations: ["Books": [Author.self, Book.self], "Reviews": [Review.self]])
    try kind.withStore(model) { books in
      let reviews = MemoryStore(name: "reviews")
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.attach(books, configuration: "Books")
      try coordinator.attach(reviews, configuration: "Reviews")
      let context = coordinator.newContext()
      let good = Review(id: 1, text: "good")
      let book = Book(id: "b", title: "B", author: Author(id: "a", name: "A"), reviews: [good])
      context.insert(book)
      try context.save()
      #expect(try coordinator.newContext().find(Book.self, id: "b") == book)
      let (review, author) = (try model.entity(Review.self), try model.entity(Author.self))
      #expect(try books.read { try $0.count(RowQuery(review)) } == 0)
      #expect(try reviews.read { try $0.count(RowQuery(review)) } == 1)
      #expect(try books.read { try $0.count(RowQuery(author)) } == 1)

      // What it kept is a typed error as soon as it is gone; the rest is there.
      #expect(coordinator.detach(reviews))
      #expect(!coordinator.detach(reviews))
      #expect(
        reason { _ = try coordinator.newContext().find(Book.self, id: "b") }
          == "no attached store keeps Review")
      #expect(try coordinator.newContext().find(Author.self, id: "a") != nil)
      try coordinator.attach(reviews, configuration: "Reviews")
      #expect(try coordinator.newContext().find(Book.self, id: "b") == book)
      #expect(
        reason { try coordinator.attach(reviews, configuration: "Reviews") }
          == "the store 'reviews' is attached already")

      // Removed from one store, and from what refers to it in the other.
      try context.delete(Review.self, id: 1)
      try context.save()
      #expect(try coordinator.newContext().find(Book.self, id: "b")?.reviews == [])
      #expect(try reviews.read { try $0.count(RowQuery(review)) } == 0)
    }
  }

  @Test("A save over two stores that fails changes neither", arguments: StoreKind.allCases)
  func failingSave(_ kind: StoreKind) throws {
    let model = try Model(
      "M", entities: [], configurations: ["Books": [Author.self, Book.self], "Reviews": [Review.self]])
    try kind.withStore(model) { books in
      let reviews = MemoryStore(name: "reviews")
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.attach(reviews, configuration: "Reviews")
      try coordinator.attach(books, configuration: "Books")
      let context = coordinator.newContext()
      context.insert(Book(id: "1", title: "", isbn: "x", author: Author(id: "a", name: "A")))
      try context.save()
      context.insert(
        Book(
          id: "2", title: "", isbn: "x", author: Author(id: "b", name: "B"), reviews: [Review(id: 1, text: "good")]))
      #expect(reason { try context.save() } == "another Book has the same isbn")
      context.rollback()
      #expect(try context.count(FetchDescriptor<Review>()) == 0)
      #expect(try context.count(FetchDescriptor<Author>()) == 1)
      #expect(try context.fetch(FetchDescriptor<Book>()).map(\.id) == ["1"])
    }
  }
}
