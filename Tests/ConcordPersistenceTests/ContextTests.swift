import Concord
import Foundation
import Testing

@testable import ConcordPersistence

@Suite("Contexts")
struct ContextTests {
  let emma = Review(id: 1, text: "Emma", stars: 3)

  @Test("A context sees its own changes, and others see them after the save", arguments: StoreKind.allCases)
  func ownChanges(_ kind: StoreKind) throws {
    try kind.withCoordinator(libraryModel()) { coordinator in
      let (first, second) = (coordinator.newContext(), coordinator.newContext())
      #expect(!first.hasChanges)
      first.insert(emma)
      #expect(first.hasChanges)
      #expect(try first.find(Review.self, id: 1) == emma)
      #expect(try second.find(Review.self, id: 1) == nil)
      try first.save()
      #expect(!first.hasChanges)
      #expect(try second.find(Review.self, id: 1) == emma)
      try second.update(Review.self, id: 1) { $0.stars = 5 }
      #expect(try second.find(Review.self, id: 1)?.stars == 5)
      #expect(try first.find(Review.self, id: 1)?.stars == 3)
      second.rollback()
      #expect(!second.hasChanges)
      #expect(try second.find(Review.self, id: 1)?.stars == 3)
      try second.delete(Review.self, id: 1)
      #expect(try second.find(Review.self, id: 1) == nil)
      #expect(try first.count(FetchDescriptor<Review>()) == 1)
      try second.save()
      #expect(try first.count(FetchDescriptor<Review>()) == 0)
    }
  }

  @Test("A context tells how fresh an entity is, also one that is not saved", arguments: StoreKind.allCases)
  func howFresh(_ kind: StoreKind) throws {
    try kind.withCoordinator(libraryModel()) { coordinator in
      let context = coordinator.newContext()
      #expect(try context.stamp(of: Review.self, id: 1) == nil)
      context.insert(emma, modifiedAt: 3)
      #expect(try context.stamp(of: Review.self, id: 1) == 3)
      try context.save()
      #expect(try coordinator.newContext().stamp(of: Review.self, id: 1) == 3)
      #expect(try !context.update(Review.self, id: 1, modifiedAt: 3) { $0.stars = 4 })
      #expect(try context.update(Review.self, id: 1, modifiedAt: 4) { $0.stars = 4 })
      // Changing nothing is not being refused.
      #expect(try context.update(Review.self, id: 1, modifiedAt: 5) { $0.stars = 4 })
      #expect(try !context.update(Review.self, id: 2) { _ in })
      #expect(try context.stamp(of: Review.self, id: 1) == 4)
      try context.delete(Review.self, id: 1)
      #expect(try context.stamp(of: Review.self, id: 1) == nil)
    }
  }

  @Test("A context tells what it would insert, update and delete", arguments: StoreKind.allCases)
  func changedObjects(_ kind: StoreKind) throws {
    try kind.withCoordinator(libraryModel()) { coordinator in
      let context = coordinator.newContext()
      for id in 1...3 { context.insert(Review(id: id, text: "\(id)")) }
      try context.save()
      context.insert(Review(id: 4, text: "4"))
      context.insert(Review(id: 1, text: "one"))
      try context.update(Review.self, id: 2) { $0.text = "two" }
      try context.delete(Review.self, id: 3)
      #expect(context.insertedObjects as? [Review] == [Review(id: 4, text: "4")])
      #expect(context.updatedObjects as? [Review] == [Review(id: 1, text: "one"), Review(id: 2, text: "two")])
      #expect(context.deletedObjects as? [Review] == [Review(id: 3, text: "3")])
      try context.delete(Review.self, id: 4)
      #expect(context.insertedObjects.isEmpty)
      context.rollback()
      #expect(context.updatedObjects.isEmpty && context.deletedObjects.isEmpty)
    }
  }

  @Test("An update that changes the id, or that throws, changes nothing", arguments: StoreKind.allCases)
  func refusedUpdates(_ kind: StoreKind) throws {
    struct Refusal: Error {}
    try kind.withCoordinator(libraryModel()) { coordinator in
      let context = coordinator.newContext()
      context.insert(emma)
      try context.save()
      let isUpdated = try context.update(Review.self, id: 1) { $0 = Review(id: 2, text: "") }
      #expect(!isUpdated)
      #expect(throws: Refusal.self) {
        try context.update(Review.self, id: 1) {
          $0.text = "changed"
          throw Refusal()
        }
      }
      let isFound = try context.update(Review.self, id: 9) { $0.text = "" }
      #expect(!isFound)
      #expect(try context.delete(Review.self, id: 9) == false)
      #expect(!context.hasChanges)
    }
  }

  @Test("Predicates, order, limit and offset see changes that are not saved", arguments: StoreKind.allCases)
  func fetchingUnsaved(_ kind: StoreKind) throws {
    try kind.withCoordinator(libraryModel()) { coordinator in
      let context = coordinator.newContext()
      for id in stride(from: 0, to: 20, by: 2) { context.insert(Review(id: id, text: "\(id)", stars: id % 5)) }
      try context.save()
      for id in stride(from: 1, to: 20, by: 2) { context.insert(Review(id: id, text: "\(id)", stars: id % 5)) }
      try context.delete(Review.self, id: 4)
      try context.update(Review.self, id: 6) { $0.stars = nil }
      let ids = (0..<20).filter { $0 != 4 }
      #expect(try context.fetch(FetchDescriptor<Review>()).map(\.id) == ids)
      #expect(try context.count(FetchDescriptor<Review>()) == 19)
      for (limit, offset) in [(5, 0), (5, 3), (100, 17), (0, 0), (3, 19), (1, 100)] {
        let descriptor = FetchDescriptor<Review>(fetchLimit: limit, fetchOffset: offset)
        let expected = Array(ids.dropFirst(offset).prefix(limit))
        #expect(try context.fetch(descriptor).map(\.id) == expected)
        #expect(try context.count(descriptor) == expected.count)
      }
      let some = FetchDescriptor<Review>(
        predicate: #Predicate { ($0.stars ?? 0) > 3 }, sortBy: [SortDescriptor(\.id, order: .reverse)], fetchLimit: 2)
      #expect(try context.fetch(some).map(\.id) == [19, 14])
    }
  }

  @Test("A value with a stamp that is not newer is discarded, after a restart too", arguments: StoreKind.allCases)
  func stamps(_ kind: StoreKind) throws {
    let model = try libraryModel()
    try withFolder { folder in
      var store = try kind.open(model, in: folder)
      func save(_ text: String, _ stamp: Stamp?) throws -> String? {
        let coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.attach(store, configuration: "")
        let context = coordinator.newContext()
        context.insert(Review(id: 1, text: text), modifiedAt: stamp)
        try context.save()
        return try context.find(Review.self, id: 1)?.text
      }
      #expect(try save("nine", 9) == "nine")
      if kind != .memory {
        try store.close()
        store = try kind.open(model, in: folder)
      }
      #expect(try save("eight", 8) == "nine")
      #expect(try save("nine again", 9) == "nine")
      #expect(try save("ten", 10) == "ten")
      #expect(try save("date", nil) == "date")
      #expect(try save("eleven", 11) == "date")
      try store.close()
    }
  }

  @Test("Saving nothing does nothing", arguments: StoreKind.allCases)
  func savingNothing(_ kind: StoreKind) throws {
    let coordinator = PersistentStoreCoordinator(model: try libraryModel())
    let context = coordinator.newContext()
    // Not even a store is needed.
    try context.save()
    context.insert(emma)
    #expect(reason { try context.save() } == "no attached store keeps Review")
    #expect(context.hasChanges)
    try kind.withStore(coordinator.model) { store in
      try coordinator.attach(store, configuration: "")
      try context.save()
      try context.save()
      #expect(try context.find(Review.self, id: 1) == emma)
    }
  }

  @Test("A save that breaks a unique property changes nothing and can be tried again", arguments: StoreKind.allCases)
  func uniqueness(_ kind: StoreKind) throws {
    try kind.withCoordinator(libraryModel()) { coordinator in
      let context = coordinator.newContext()
      let author = Author(id: "a", name: "A")
      context.insert(Book(id: "1", title: "1", isbn: "x", author: author))
      context.insert(Book(id: "2", title: "2", isbn: nil, author: author))
      context.insert(Book(id: "3", title: "3", isbn: nil, author: author))
      try context.save()
      try context.update(Book.self, id: "2") { $0.title = "two" }
      try context.update(Book.self, id: "3") { $0.isbn = "x" }
      #expect(reason { try context.save() } == "another Book has the same isbn")
      #expect(try coordinator.newContext().fetch(FetchDescriptor<Book>()).map(\.title) == ["1", "2", "3"])
      #expect(context.hasChanges)
      try context.update(Book.self, id: "3") { $0.isbn = "y" }
      try context.save()
      #expect(try coordinator.newContext().fetch(FetchDescriptor<Book>()).map(\.isbn) == ["x", nil, "y"])
    }
  }

  @Test("What was deleted is replaced by a newer value only", arguments: StoreKind.allCases)
  func insertingWhatWasRemoved(_ kind: StoreKind) throws {
    try kind.withCoordinator(libraryModel()) { coordinator in
      for (id, savesBetween) in [(1, true), (2, false)] {
        let context = coordinator.newContext()
        context.insert(Review(id: id, text: "third version"), modifiedAt: 3)
        try context.save()
        try context.delete(Review.self, id: id)
        if savesBetween { try context.save() }
        context.insert(Review(id: id, text: "second version"), modifiedAt: 2)
        if !savesBetween { #expect(try context.find(Review.self, id: id) == nil) }
        try context.save()
        #expect(try coordinator.newContext().find(Review.self, id: id) == nil)
        let later = Date().stamp + 1000
        context.insert(Review(id: id, text: "later"), modifiedAt: later)
        try context.save()
        #expect(try coordinator.newContext().stamp(of: Review.self, id: id) == later)
        // The deletion, too, is ahead of the clock then.
        try context.delete(Review.self, id: id)
        if savesBetween { try context.save() }
        context.insert(Review(id: id, text: "without a stamp"))
        try context.save()
        #expect(try coordinator.newContext().find(Review.self, id: id)?.text == "without a stamp")
      }
    }
  }

  @Test("What cannot be written is said at the save, and a rollback forgets it", arguments: StoreKind.allCases)
  func unwritable(_ kind: StoreKind) throws {
    let model = try Model("Small", entities: [Author.self])
    try kind.withCoordinator(model) { coordinator in
      let context = coordinator.newContext()
      context.insert(emma)
      #expect(context.hasChanges)
      #expect(reason { try context.save() } == "Review does not belong to the model")
      context.rollback()
      try context.save()
    }
  }

  @Test("A context that is released with changes leaves nothing behind", arguments: StoreKind.allCases)
  func released(_ kind: StoreKind) throws {
    try kind.withCoordinator(libraryModel()) { coordinator in
      weak var released: BackgroundContext?
      do {
        let context = coordinator.newContext()
        context.insert(emma)
        released = context
      }
      #expect(released == nil)
      let count = try coordinator.newContext().count(FetchDescriptor<Review>())
      #expect(count == 0)
    }
  }

  @Test("Blocks may be nested, and a block is alone with its context", arguments: StoreKind.allCases)
  func blocks(_ kind: StoreKind) async throws {
    // The body is asynchronous, so the store's files are removed here.
    let folder = FileManager.default.temporaryDirectory.appending(path: "concord-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let coordinator = PersistentStoreCoordinator(model: try libraryModel())
    let store = try kind.open(coordinator.model, in: folder)
    try coordinator.attach(store, configuration: "")
    let context = coordinator.newContext()
    context.insert(Review(id: 0, text: "", stars: 0))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          try await context.perform { context in
            for _ in 0..<20 {
              try context.performAndWait {
                let stars = try context.find(Review.self, id: 0)?.stars ?? 0
                try context.performAndWait { context in
                  _ = try context.update(Review.self, id: 0) { $0.stars = stars + 1 }
                }
              }
            }
            try context.save()
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try coordinator.newContext().find(Review.self, id: 0)?.stars == 160)
    struct Refusal: Error {}
    await #expect(throws: Refusal.self) { try await context.perform { () throws -> Void in throw Refusal() } }
    let seven = try await context.perform { 7 }
    #expect(seven == 7)
    try store.close()
  }

  @Test("16 contexts save at once, and nothing is lost", arguments: StoreKind.allCases)
  func concurrentSaves(_ kind: StoreKind) throws {
    try kind.withCoordinator(libraryModel()) { coordinator in
      let failures = Locked<[String]>([])
      DispatchQueue.concurrentPerform(iterations: 16) { number in
        let context = coordinator.newContext()
        for step in 0..<25 {
          do {
            context.insert(Review(id: number * 100 + step, text: "\(number)"))
            try context.save()
          } catch { failures.withLock { $0.append("\(error)") } }
        }
      }
      #expect(failures.withLock { $0 } == [])
      let count = try coordinator.newContext().count(FetchDescriptor<Review>())
      #expect(count == 400)
    }
  }

  @Test("The same updates from many contexts are merged one after the other", arguments: StoreKind.allCases)
  func concurrentUpdates(_ kind: StoreKind) throws {
    try kind.withCoordinator(libraryModel()) { coordinator in
      let first = coordinator.newContext()
      first.insert(emma)
      first.insert(Author(id: "a", name: "A"))
      try first.save()
      let (second, third) = (coordinator.newContext(), coordinator.newContext())
      try second.update(Review.self, id: 1) { $0.text = "second" }
      try third.update(Review.self, id: 1) { $0.stars = 1 }
      try second.save()
      try third.save()
      #expect(try first.find(Review.self, id: 1) == Review(id: 1, text: "second", stars: 1))
    }
  }
}
