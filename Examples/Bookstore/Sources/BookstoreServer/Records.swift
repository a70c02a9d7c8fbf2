import BookstoreKit
import ConcordPersistence
import ConcordPersistenceMacros
import Foundation

/// The number of the shop's last change. Each change raises it first, so that of two changes made at the same time, by one server
/// or by two, one conflicts with the other and is made again.
@PersistentEntity
struct ShopVersion: Equatable {
  let id: Int
  var number: Int

  static let only = 1
}

/// A book in a customer's cart.
@PersistentEntity
struct Line: Equatable {
  /// The customer and the book.
  let id: String
  @Attribute(.indexed) var customer: String
  var book: Book.ID
  /// The version at which the book came into the cart.
  var number: Int
  var copies: [Copy]
  var version: Int

  static func id(_ customer: String, _ book: Book.ID) -> String { "\(customer)\n\(book)" }
}

/// A copy in a cart.
@PersistentEntity
struct Copy: Equatable {
  let id: String
}

/// A change that a customer forwarded.
@PersistentEntity(id: \.sequence)
struct Applied: Equatable {
  /// The version that the change made.
  let sequence: Int
  @Attribute(.unique) var key: String
  /// The id of the book that was changed, or of the author.
  var book: String
  var action: String
}

/// The response to a request with a key, which is given again when the request comes again.
@PersistentEntity(id: \.key)
struct Given: Equatable {
  let key: String
  /// The request, by which it differs from another one with the same key.
  var request: Data
  var status: Int
  var body: Data
}

/// A change as the feed tells it.
@PersistentEntity(id: \.version)
struct Change: Equatable {
  let version: Int
  /// A ``ServerEvent`` as JSON.
  var event: Data

  /// The number of changes that are kept for servers that were away.
  static let kept = 1_000
}

extension Model {
  /// The entities of a shop.
  static func shop() throws -> Model {
    try Model(
      "Server",
      entities: [
        Author.self, Book.self, Review.self, Line.self, Copy.self, ShopVersion.self, Applied.self, Given.self,
        Change.self,
      ])
  }
}
