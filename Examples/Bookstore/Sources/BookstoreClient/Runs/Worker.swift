package import BookstoreKit
import BookstoreShared
import ConcordSync

/// A customer that forwards actions as fast as it can.
package struct Worker {
  private let storefront: Storefront
  private let bookCount: Int
  private var random: SeededGenerator

  package init(_ storefront: Storefront, books: Int, seed: UInt64) {
    self.storefront = storefront
    bookCount = books
    random = SeededGenerator(seed: seed)
  }

  /// Forwards copies for the cart and reviews, in turn by chance.
  ///
  /// - Parameter queued: called for each as soon as it is in the file.
  package func forward(_ count: Int, queued: (_ key: String, _ book: Book.ID) -> Void) async throws {
    if count == 0 { return }
    // A new store waits for the server.
    try await storefront.sync.subscribe("books").ready()
    let books = try storefront.firstBooks(bookCount)
    var random = random
    for _ in 0..<count {
      let book = books[Int.random(in: 0..<books.count, using: &random)]
      let stars = Int.random(in: 1...5, using: &random)
      let key =
        if Bool.random(using: &random) {
          try await storefront.forward(storefront.review(book, stars: stars, text: "So, so."))
        } else {
          try await storefront.forward(storefront.addToCart(book))
        }
      queued(key.rawValue, book.id)
    }
  }

  /// Waits until nothing is left to be sent.
  ///
  /// - Returns: why what was refused was refused.
  package func drain() async -> [String] {
    await storefront.connect.outbox.idle()
    return storefront.connect.outbox.deadLetters.map(\.reason)
  }
}

extension Storefront {
  /// The first books of the catalogue, as the file has them.
  func firstBooks(_ count: Int) throws -> [Book] {
    var descriptor = FetchDescriptor<Book>(sortBy: [SortDescriptor(\.number)])
    descriptor.fetchLimit = count
    let books = try connect.newBackgroundContext().fetch(descriptor)
    if books.isEmpty { throw ShopProblem.noBook("") }
    return books
  }
}
