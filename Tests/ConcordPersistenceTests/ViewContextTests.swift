import Concord
import Foundation
import Testing

@testable import ConcordPersistence

@Suite("The view")
struct ViewContextTests {
  let austen = Author(id: "a", name: "Austen")

  @Test("It shows what it changes at once, and takes it back at a rollback", arguments: StoreKind.combinations)
  func unsavedChanges(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
    try await strategy.withContainer(kind) { container in
      let view = container.viewContext
      view.insert(Book(id: "b", title: "Emma", author: austen, reviews: [Review(id: 1, text: "good")]))
      try view.save()
      let book = try #require(try view.find(Book.self, id: "b"))
      try view.update(Book.self, id: "b") { $0.title = "EMMA" }
      try view.update(Review.self, id: 1) { $0.text = "very good" }
      #expect(book.value.title == "EMMA" && book.value.reviews[0].text == "very good")
      #expect(view.updatedObjects.count == 2)
      try view.delete(Review.self, id: 1)
      #expect(book.value.reviews.isEmpty)
      view.rollback()
      #expect(book.value.title == "Emma" && book.value.reviews.map(\.text) == ["good"])
      #expect(!view.hasChanges)
      try view.delete(Author.self, id: "a")
      #expect(book.isRemoved)
      view.rollback()
      // Who observed it follows it again.
      #expect(!book.isRemoved && book.value.title == "Emma")
    }
  }

  @Test("It holds what is observed, and nothing else", arguments: StoreKind.combinations)
  func holdsWhatIsObserved(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
    try await strategy.withContainer(kind) { container in
      let view = container.viewContext
      for id in 0..<100 { view.insert(Review(id: id, text: "\(id)")) }
      try view.save()
      try await container.flush()
      #expect(view.store._statistics().entities == 0)
      var observer = try view.find(Review.self, id: 7)
      #expect(view.store._statistics().entities == 1)
      _ = try view.fetch(FetchDescriptor<Review>())
      #expect(observer?.value.text == "7")
      observer = nil
      #expect(view.store._statistics().entities == 0)
      #expect(view.store._statistics().nodes == 0)
    }
  }

  @Test("Whoever waits for an entity is told when another context saves it", arguments: StoreKind.allCases)
  func waiting(_ kind: StoreKind) async throws {
    try await StrategyKind.direct.withContainer(kind) { container in
      let observer = container.viewContext.store.observer(Review.self, id: 1)
      #expect(observer.value == nil)
      let context = container.newBackgroundContext()
      context.insert(Review(id: 1, text: "one"))
      try context.save()
      try await container.flush()
      #expect(observer.value?.text == "one")
      try context.delete(Review.self, id: 1)
      try context.save()
      try await container.flush()
      #expect(observer.value == nil)
    }
  }

  @Test("A block is one transaction: its observers are called once", arguments: StoreKind.allCases)
  func oneTransaction(_ kind: StoreKind) async throws {
    try await StrategyKind.usersOwn.withContainer(kind) { container in
      let view = container.viewContext
      view.insert(Review(id: 1, text: "one"))
      let told = Locked<[String]>([])
      let subscription = try #require(try view.find(Review.self, id: 1)).observe { review in
        told.withLock { $0.append(review.text) }
      }
      try await view.perform { view in
        try view.update(Review.self, id: 1) { $0.text = "two" }
        try view.performAndWait { _ = try view.update(Review.self, id: 1) { $0.text = "three" } }
      }
      #expect(told.withLock { $0 } == ["one", "three"])
      struct Refusal: Error {}
      #expect(throws: Refusal.self) {
        try view.performAndWait { view in
          try view.update(Review.self, id: 1) { $0.text = "four" }
          throw Refusal()
        }
      }
      // What a block did before it threw is done, and shown.
      #expect(told.withLock { $0 } == ["one", "three", "four"])
      #expect(try view.find(Review.self, id: 1)?.value.text == "four")
      subscription.unsubscribe()
    }
  }

  @Test(
    "Cycles read as they do from an entity store, and stay whole when a part is shown",
    arguments: StoreKind.combinations)
  func cycles(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
    try await strategy.withContainer(kind) { container in
      let view = container.viewContext
      let team = Team(id: 1, name: "T")
      view.insert(Person(id: 1, name: "Ann", friends: [Person(id: 2, name: "Bob")], team: team))
      let whole = try #require(try view.find(Person.self, id: 1)?.value)
      try view.update(Person.self, id: 2) { $0.friends = [whole, Person(id: 3, name: "Cid")] }
      try view.save()
      try await container.flush()
      let (ann, bob) = (
        try #require(try view.find(Person.self, id: 1)), try #require(try view.find(Person.self, id: 2))
      )
      #expect(ann.value.friends.map(\.id) == [2])
      #expect(bob.value.friends.map(\.id) == [1, 3])
      #expect(ann.value.team?.name == "T")
      let context = container.newBackgroundContext()
      try context.update(Person.self, id: 2) { $0.name = "Bobby" }
      try context.save()
      try await container.flush()
      if strategy.isKeptUpToDate { #expect(ann.value.friends[0].name == "Bobby") }
      _ = try view.find(Person.self, id: 2)
      #expect(ann.value.friends.map(\.name) == ["Bobby"])
      #expect(bob.value.friends.map(\.name) == ["Ann", "Cid"])
      #expect(view.store._checkInvariants().isEmpty)
    }
  }

  @Test("Threads that write, show and read at once end, and agree", arguments: StoreKind.combinations)
  func manyThreads(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
    try await strategy.withContainer(kind) { container in
      let view = container.viewContext
      for id in 0..<5 { view.insert(Review(id: id, text: "0")) }
      try view.save()
      let observers = try (0..<5).compactMap { try view.find(Review.self, id: $0) }
      let list = try view.query(FetchDescriptor<Review>())
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<4 {
          group.addTask {
            let context = container.newBackgroundContext()
            for step in 0..<20 {
              try context.update(Review.self, id: (task + step) % 5) { $0.text = "\(step)" }
              try context.save()
              try view.update(Review.self, id: step % 5) { $0.stars = step }
              if step % 3 == 0 { try view.save() }
              _ = try view.find(Review.self, id: step % 5)?.value
              _ = list.value.count
            }
          }
        }
        try await group.waitForAll()
      }
      try view.save()
      try await container.flush()
      for (id, observer) in observers.enumerated() {
        if !strategy.isKeptUpToDate { _ = try view.find(Review.self, id: id) }
        #expect(try observer.value == container.stored(Review.self, id: id))
      }
      #expect(list.value == observers.map(\.value))
    }
  }
}
