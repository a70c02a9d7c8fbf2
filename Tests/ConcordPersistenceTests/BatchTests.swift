import Concord
import Foundation
import Testing

@testable import ConcordPersistence

/// A place in a row, which nobody shares.
private struct Chair: PersistentEntity, Equatable {
  let id: Int
  var place: Int
  /// No column holds it.
  var isEven: Bool { place % 2 == 0 }

  static let persistentProperties: [PersistentProperty<Chair>] = [.init("id", \.id), .init("place", \.place, .unique)]
  init(_ id: Int, _ place: Int) { (self.id, self.place) = (id, place) }
  init(from row: inout RowReader) throws { self.init(try row.read(), try row.read()) }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(place)
  }
}

@Suite("Changes of all that a predicate finds")
struct BatchTests {
  private struct Failure: Error {}

  @Test(
    "Observers and live queries are told of what a batch has changed and deleted", arguments: StoreKind.combinations)
  func observers(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
    guard strategy.isKeptUpToDate else { return }
    try await strategy.withContainer(kind) { container in
      let context = container.newBackgroundContext()
      for id in 0..<60 { context.insert(Review(id: id, text: "old", stars: id % 3)) }
      try context.save()
      try await container.flush()
      let view = container.viewContext
      let one = try #require(try view.find(Review.self, id: 4))
      let gone = try #require(try view.find(Review.self, id: 3))
      let new = try view.query(FetchDescriptor<Review>(predicate: #Predicate { $0.text == "new" }))
      let all = try view.query(FetchDescriptor<Review>())
      #expect(try context.update(Review.self, where: #Predicate { $0.stars == 1 }) { $0.text = "new" } == 20)
      #expect(try context.delete(Review.self, where: #Predicate { $0.stars == 0 }) == 20)
      try context.save()
      try await container.flush()
      #expect(one.value.text == "new" && gone.isRemoved)
      #expect(new.value.map(\.id) == (0..<60).filter { $0 % 3 == 1 } && all.value.count == 40)
      // The view's own.
      #expect(try view.update(Review.self, where: #Predicate { $0.stars == 2 }) { $0.text = "new" } == 20)
      #expect(new.value.count == 40)
      #expect(try view.delete(Review.self, where: nil) == 40)
      #expect(new.value.isEmpty && all.value.isEmpty)
      view.rollback()
      #expect(new.value.count == 20 && all.value.count == 40)
    }
  }

  @Test("Another container with the same store shows what a batch has changed", arguments: StoreKind.lasting)
  func otherContainers(_ kind: StoreKind) async throws {
    try await StrategyKind.direct.withContainer(kind) { first in
      guard let folder = first.persistentStores.first?.url?.deletingLastPathComponent() else { return }
      let second = StrategyKind.direct.container(try libraryModel())
      let store = try second.attachPersistentStore(at: folder, for: StoreConfiguration(type: kind.type))
      defer { try? second.detach(persistentStore: store) }
      let context = first.newBackgroundContext()
      for id in 0..<30 { context.insert(Review(id: id, text: "old")) }
      try context.save()
      let query = try second.viewContext.query(FetchDescriptor<Review>(predicate: #Predicate { $0.text == "new" }))
      try context.update(Review.self, where: #Predicate { $0.id < 20 }) { $0.text = "new" }
      try context.delete(Review.self, where: #Predicate { $0.id < 5 })
      try context.save()
      #expect(try await eventually { query.value.map(\.id) == Array(5..<20) })
    }
  }

  @Test("A closure or a predicate that throws has changed nothing", arguments: StoreKind.allCases)
  func failures(_ kind: StoreKind) throws {
    try kind.withCoordinator(libraryModel()) { coordinator in
      let context = coordinator.newContext()
      for id in 1...5 { context.insert(Review(id: id, text: "old", stars: id)) }
      try context.save()
      try context.update(Review.self, id: 1) { $0.text = "pending" }
      #expect(throws: Failure.self) {
        try context.update(Review.self, where: nil) { review in
          if review.id == 4 { throw Failure() }
          review.text = "new"
        }
      }
      #expect(try context.fetch(FetchDescriptor<Review>()).map(\.text) == ["pending", "old", "old", "old", "old"])
      #expect(throws: (any Error).self) {
        try context.delete(Review.self, where: #Predicate { 12 / ($0.id - 3) > 0 })
      }
      try context.save()
      #expect(try context.fetch(FetchDescriptor<Review>()).map(\.text) == ["pending", "old", "old", "old", "old"])
    }
  }

  @Test("A view whose batch fails shows what it showed before", arguments: StoreKind.allCases)
  func failureInView(_ kind: StoreKind) async throws {
    try await StrategyKind.direct.withContainer(kind) { container in
      let view = container.viewContext
      for id in 1...3 { view.insert(Review(id: id, text: "old")) }
      try view.save()
      let first = try #require(try view.find(Review.self, id: 1))
      #expect(throws: Failure.self) {
        try view.update(Review.self, where: nil) { review in
          // Shows what the batch has made so far.
          if review.id == 2 { _ = try view.find(Review.self, id: 1) }
          if review.id == 3 { throw Failure() }
          review.text = "new"
        }
      }
      #expect(first.value.text == "old")
      #expect(!view.hasChanges)
    }
  }

  @Test("Unique values move within a batch", arguments: StoreKind.allCases)
  func unique(_ kind: StoreKind) throws {
    try kind.withCoordinator(Model("Chairs", entities: [Chair.self])) { coordinator in
      let context = coordinator.newContext()
      for id in 0..<50 { context.insert(Chair(id, id)) }
      try context.save()
      #expect(try context.update(Chair.self, where: nil) { $0.place = ($0.place + 1) % 50 } == 50)
      try context.save()
      #expect(try context.fetch(FetchDescriptor<Chair>()) == (0..<50).map { Chair($0, ($0 + 1) % 50) })
      // What no column holds decides which.
      #expect(try context.delete(Chair.self, where: #Predicate { $0.isEven }) == 25)
      #expect(try context.update(Chair.self, where: #Predicate { $0.isEven }) { $0.place = 7 } == 0)
      try context.update(Chair.self, where: nil) { $0.place = 1 }
      #expect(throws: StoreError.self) { try context.save() }
    }
  }

  @Test("What requires a deleted entity goes with it, and a stamp decides as for one", arguments: StoreKind.allCases)
  func relationsAndStamps(_ kind: StoreKind) throws {
    try kind.withCoordinator(libraryModel()) { coordinator in
      let context = coordinator.newContext()
      let authors = ["a", "b", "c"].map { Author(id: $0, name: $0) }
      for (index, author) in authors.enumerated() {
        context.insert(
          Book(id: author.id, title: "t", author: author, editor: authors[0], reviews: [Review(id: index, text: "")]),
          modifiedAt: Double(index))
      }
      try context.save()
      #expect(try context.delete(Review.self, where: nil, modifiedAt: 1) == 1)
      #expect(try context.update(Review.self, where: nil, modifiedAt: 1.5) { $0.text = "new" } == 1)
      #expect(try context.delete(Author.self, where: #Predicate { $0.name > "b" }) == 1)
      try context.save()
      let books = try context.fetch(FetchDescriptor<Book>())
      #expect(books.map(\.id) == ["a", "b"])
      #expect(books.map { $0.reviews.map(\.text) } == [[], ["new"]])
      // Deletions with a stamp are remembered.
      context.insert(Review(id: 0, text: "late"), modifiedAt: 0.5)
      try context.save()
      #expect(try context.find(Review.self, id: 0) == nil)
    }
  }

  @Test("The merge policy decides about what another context has saved since", arguments: StoreKind.allCases)
  func mergePolicies(_ kind: StoreKind) throws {
    for policy in [MergePolicy.byStamp, .objectTrump, .storeTrump, .error] {
      try kind.withCoordinator(libraryModel()) { coordinator in
        let (ours, theirs) = (coordinator.newContext(), coordinator.newContext())
        for id in 1...3 { theirs.insert(Review(id: id, text: "old", stars: 0)) }
        try theirs.save()
        ours.mergePolicy = policy
        try ours.update(Review.self, where: nil) { $0.text = "ours" }
        try theirs.update(Review.self, where: #Predicate { $0.id == 2 }) { $0.text = "theirs" }
        try theirs.update(Review.self, where: #Predicate { $0.id == 3 }) { $0.stars = 5 }
        try theirs.save()
        if policy == .error {
          #expect(
            reason { try ours.save() } == "\(StoreError.conflict(entity: "Review", id: "2", properties: ["text"]))")
          return
        }
        try ours.save()
        let found = try theirs.fetch(FetchDescriptor<Review>())
        #expect(found.map(\.text) == ["ours", policy == .objectTrump ? "ours" : "theirs", "ours"], "\(policy)")
        #expect(found.map(\.stars) == [0, 0, 5])
      }
    }
  }

  @Test("A batch makes the rows that single changes make, one after the other", arguments: StoreKind.allCases)
  func singles(_ kind: StoreKind) throws {
    let model = try libraryModel()
    for seed in UInt64(1)...3 {
      /// Does the same in both ways, and returns what is stored.
      func run(isBatch: Bool) throws -> ([Book], [Author], [Review]) {
        var random = SeededGenerator(seed: seed)
        return try kind.withCoordinator(model) { coordinator in
          let context = coordinator.newContext()
          let authors = (0..<3).map { Author(id: "\($0)", name: "\($0)") }
          for id in 0..<12 {
            let reviews = (0..<Int.random(in: 0..<3, using: &random)).map {
              Review(id: ($0 + id) % 9, text: "", stars: Int.random(in: 0..<4, using: &random))
            }
            context.insert(
              Book(
                id: "\(id)", title: "\(id % 4)", author: random.pick(authors), editor: random.pick(authors),
                reviews: reviews),
              modifiedAt: Double(id))
          }
          try context.save()
          for step in 0..<6 {
            let (title, limit) = ("\(Int.random(in: 0..<4, using: &random))", Int.random(in: 0..<4, using: &random))
            let choice = Int.random(in: 0..<4, using: &random)
            func change(_ book: inout Book) {
              switch choice {
              case 0: book.title += "+"
              case 1: book.author.name += "\(book.id),"
              case 2: book.editor = nil
              default: book.reviews.reverse()
              }
            }
            let books = #Predicate<Book> { $0.title == title || $0.author.name.count > limit }
            let reviews = #Predicate<Review> { ($0.stars ?? 0) > limit }
            if isBatch {
              try context.update(Book.self, where: books, change)
              if step == 3 { try context.delete(Review.self, where: reviews) }
            } else {
              for id in try context.fetch(FetchDescriptor(predicate: books)).map(\.id) {
                try context.update(Book.self, id: id, change)
              }
              if step == 3 {
                for id in try context.fetch(FetchDescriptor(predicate: reviews)).map(\.id) {
                  try context.delete(Review.self, id: id)
                }
              }
            }
            if step % 2 == 1 { try context.save() }
          }
          return try (
            context.fetch(FetchDescriptor<Book>()), context.fetch(FetchDescriptor<Author>()),
            context.fetch(FetchDescriptor<Review>())
          )
        }
      }
      let (batch, single) = (try run(isBatch: true), try run(isBatch: false))
      #expect(batch == single, "seed \(seed)")
    }
  }
}
