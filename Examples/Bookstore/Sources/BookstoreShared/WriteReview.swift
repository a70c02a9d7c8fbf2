public import BookstoreKit
public import ConcordSync
import Foundation

/// Says what a customer thinks of a book.
public struct WriteReview: ShopAction {
  public static let name = "write-review"

  public var book: Book.ID
  public var title: String
  public var review: Review

  public init(customer: String, book: Book.ID, title: String, stars: Int, text: String) {
    (self.book, self.title) = (book, title)
    review = Review(id: UUID().uuidString.lowercased(), stars: stars, by: customer, text: text)
  }

  public var summary: String { "Review “\(title)”: \(String(repeating: "★", count: min(max(0, review.stars), 5)))" }
  public var subject: String { book }
  public var entity: AnyEntityReference { .init(Book.self, id: book) }

  public func apply(to store: EntityStore) throws {
    guard store.find(Book.self, id: book) != nil else { throw ShopProblem.noBook(book) }
    guard (1...5).contains(review.stars) else { throw ShopProblem.stars }
    store.update(Book.self, id: book) { $0.reviews.append(review) }
  }
}
