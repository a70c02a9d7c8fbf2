import Concord
import Foundation
import Testing

@testable import ConcordPersistence

@Suite("Stamps of what loses an entity")
struct OwnerStampsTests {
  @Test("What loses an entity keeps its stamp, and takes what is fresher than that", arguments: StoreKind.combinations)
  func owners(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
    try await strategy.withContainer(kind) { container in
      let first = Review(id: 1, text: "first")
      let second = Review(id: 2, text: "second")
      let context = container.newBackgroundContext()
      context.insert(
        Book(id: "1", title: "old", author: Author(id: "1", name: ""), reviews: [first, second, first]), modifiedAt: 100
      )
      try context.save()
      try await container.flush()
      for (inView, id) in [(false, 1), (true, 2)] {
        if inView {
          #expect(try container.viewContext.delete(Review.self, id: id))
          try container.viewContext.save()
        } else {
          #expect(try context.delete(Review.self, id: id))
          try context.save()
        }
        try await container.flush()
        #expect(try context.stamp(of: Book.self, id: "1") == 100)
        #expect(try container.stored(Book.self, id: "1")?.reviews == (inView ? [] : [second]))
      }
      #expect(try context.update(Book.self, id: "1", modifiedAt: 101) { $0.title = "new" })
      try context.save()
      try await container.flush()
      #expect(try container.stored(Book.self, id: "1")?.title == "new")
    }
  }
}
