import BookstoreKit
import ConcordPersistence
import Foundation

extension ShopStore {
  /// Reads on a thread of its own, in a new context.
  private func read<R: Sendable>(_ body: @escaping @Sendable (BackgroundContext) throws -> R) async throws -> R {
    try await container.newBackgroundContext().perform(body)
  }

  func version() async throws -> Int { try await read { try $0.shopVersion() } }

  func book(_ id: Book.ID) async throws -> Book { try await read { try $0.book(id) } }

  /// Returns the books that stand after a place in the catalogue.
  func books(after number: Int, count: Int) async throws -> [Book] {
    try await read { context in
      var descriptor = FetchDescriptor<Book>(
        predicate: #Predicate { $0.number > number }, sortBy: [SortDescriptor(\.number)])
      descriptor.fetchLimit = count
      return try context.fetch(descriptor)
    }
  }

  func author(_ id: Author.ID) async throws -> Author { try await read { try $0.author(id) } }

  /// Returns a customer's cart, in the order in which the books came into it.
  func cart(of customer: String) async throws -> [LineOfCart] {
    try await read { context in
      try context.fetch(
        FetchDescriptor<Line>(
          predicate: #Predicate { $0.customer == customer }, sortBy: [SortDescriptor(\.number)])
      ).map(LineOfCart.init)
    }
  }
}

extension BackgroundContext {
  func shopVersion() throws -> Int { try find(ShopVersion.self, id: ShopVersion.only)?.number ?? 0 }

  func book(_ id: Book.ID) throws -> Book {
    guard let book = try find(Book.self, id: id) else { throw Refusal.notFound("book \"\(id)\"") }
    return book
  }

  func author(_ id: Author.ID) throws -> Author {
    guard let author = try find(Author.self, id: id) else { throw Refusal.notFound("author \"\(id)\"") }
    return author
  }
}

extension LineOfCart {
  init(_ line: Line) {
    self.init(customer: line.customer, book: line.book, copies: line.copies.map(\.id), version: line.version)
  }
}
