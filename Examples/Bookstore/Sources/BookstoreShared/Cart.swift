public import BookstoreKit
public import ConcordPersistenceMacros

/// What a customer is about to buy.
@PersistentEntity
public struct Cart: Equatable, Sendable {
  /// The customer's name.
  public let id: String
  public var lines: [CartLine]
}

/// A book in a cart, once for each copy.
@PersistentEntity
public struct CartLine: Equatable, Sendable {
  public let id: String
  public var book: Book
  /// The names of the copies.
  public var copies: [String]

  /// The id of the line that a cart has of a book.
  static func id(_ customer: String, _ book: Book.ID) -> String { "\(customer)/\(book)" }
}
