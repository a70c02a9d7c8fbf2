public import BookstoreKit
public import ConcordPersistenceMacros

/// What a customer is about to buy.
@PersistentEntity
public struct Cart: Equatable, Sendable {
  public let id: String
  public var lines: [CartLine]

  /// The customer of this program.
  static let own = "reader"
}

/// A book in the cart, once for each copy.
@PersistentEntity
public struct CartLine: Equatable, Sendable {
  /// The book's id.
  public let id: String
  public var book: Book
  /// One for each copy. Copies have names, so that none is put into the cart twice.
  public var copies: [String]
  /// Which of the server's versions it is; 0 if the server knows nothing of it yet.
  public var version: Int = 0
}
