package import BookstoreKit
import ConcordConnect
import Foundation

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
    let books = try await catalogue()
    var random = random
    for _ in 0..<count {
      let book = books[Int.random(in: 0..<books.count, using: &random)]
      let stars = Int.random(in: 1...5, using: &random)
      let isReview = Bool.random(using: &random)
      let key =
        if isReview {
          try await storefront.forward(WriteReview(book: book.id, title: book.title, stars: stars, text: "So, so."))
        } else {
          try await storefront.forward(AddToCart(book: book.id, title: book.title))
        }
      queued(key.rawValue, book.id)
    }
  }

  /// The first books of the catalogue. A new store asks the server for them, again and again if need be.
  private func catalogue() async throws -> ArraySlice<Book> {
    let sync = SyncShop(storefront.network)
    while storefront.books.value.count < bookCount {
      do {
        try await storefront.connect.executed(sync)
        break
      } catch is TransportError {
        try await storefront.checkServer()
        try await Task.sleep(for: .milliseconds(200))
      }
    }
    return storefront.books.value.prefix(bookCount)
  }

  /// Waits until nothing is left to be sent.
  ///
  /// - Returns: why what was refused was refused.
  package func drain() async -> [String] {
    await storefront.connect.outbox.idle()
    return storefront.connect.outbox.deadLetters.map(\.reason)
  }
}
