import Concord
import Foundation
import Testing

@testable import ConcordPersistence

@Suite("Deletions that fail")
struct FailedDeletionTests {
  private let rows = CountingStore()
  private let context: BackgroundContext

  init() throws {
    let coordinator = PersistentStoreCoordinator(model: try libraryModel())
    try coordinator.attach(rows, configuration: "")
    context = coordinator.newContext()
  }

  /// Deletes something, while the first row that is read cannot be read, and then the second one, and so on. Nothing is pending
  /// that was not, until it succeeds.
  ///
  /// - Returns: the number of failures.
  private func delete(_ body: (BackgroundContext) throws -> Bool) throws -> Int {
    func pending() -> [String] {
      (context.insertedObjects + context.updatedObjects + context.deletedObjects).map { "\($0)" }.sorted()
    }
    let before = pending()
    for failures in 0..<1000 {
      rows.readable.withLock { $0 = failures }
      let isDeleted = try? body(context)
      rows.readable.withLock { $0 = nil }
      if isDeleted == true { return failures }
      #expect(pending() == before, "after \(failures) rows")
    }
    Issue.record("it is never deleted")
    return 1000
  }

  @Test("A deletion that fails half way changes nothing, wherever it fails")
  func halfWay() throws {
    let review = Review(id: 1, text: "")
    for id in ["1", "2", "3"] {
      context.insert(Book(id: id, title: "", author: Author(id: "1", name: ""), reviews: [review]))
    }
    // It cannot be without the review.
    context.insert(Book(id: "4", title: "", author: Author(id: "1", name: ""), medium: .required(review)))
    try context.save()
    try context.update(Book.self, id: "2") { $0.title = "pending" }
    context.insert(Book(id: "5", title: "new", author: Author(id: "1", name: ""), reviews: [review]))
    let failures = try delete { try $0.delete(Review.self, id: 1) }
    // Each owner has been read before the failure of some of them.
    #expect(failures > 8)
    #expect(try context.find(Book.self, id: "1")?.reviews == [] && context.find(Book.self, id: "4") == nil)
    try context.save()
    let books = try context.fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.id)]))
    #expect(books.map(\.id) == ["1", "2", "3", "5"] && books.allSatisfy(\.reviews.isEmpty))
    #expect(books.map(\.title) == ["", "pending", "", "new"])
  }

  @Test("An owner that cannot be read at the moment is not taken for one that requires what is deleted")
  func unreadableOwner() throws {
    let (author, other) = (Author(id: "1", name: ""), Author(id: "2", name: ""))
    context.insert(Book(id: "1", title: "", author: author, reviews: [Review(id: 1, text: "")], medium: .author(other)))
    try context.save()
    #expect(try delete { try $0.delete(Author.self, id: "2") } > 3)
    try context.save()
    #expect(try context.find(Book.self, id: "1")?.medium == .author(nil))
  }
}
