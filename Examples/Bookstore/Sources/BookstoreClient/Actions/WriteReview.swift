import BookstoreKit
import ConcordConnect
import Foundation

/// Says what the customer thinks of a book.
struct WriteReview: ShopAction {
  static let name = "write-review"

  var book: Book.ID
  var title: String
  var review: Review

  init(book: Book.ID, title: String, stars: Int, text: String) {
    (self.book, self.title) = (book, title)
    review = Review(id: UUID().uuidString.lowercased(), stars: stars, by: "You", text: text)
  }

  var summary: String { "Review “\(title)”: \(String(repeating: "★", count: min(max(0, review.stars), 5)))" }
  var subject: String { book }
  var entity: AnyEntityReference { .init(Book.self, id: book) }

  func apply(to store: EntityStore) throws {
    guard store.find(Book.self, id: book) != nil else { throw ActionProblem.noBook(book) }
    guard (1...5).contains(review.stars) else { throw ActionProblem.stars }
    store.update(Book.self, id: book) { book in
      if !book.reviews.contains(where: { $0.id == review.id }) { book.reviews.append(review) }
    }
  }

  func send(with transport: any Transport, key: IdempotencyKey) async throws {
    try await send("POST", "/books/\(book)/reviews", review, with: transport, key: key)
  }
}
