public import ConcordConsistencyMacros

/// Somebody who wrote books.
@Entity @Consistent
public struct Author: Equatable {
  public let id: String
  public var name: String

  public init(id: String, name: String) {
    self.id = id
    self.name = name
  }
}

/// What one reader thinks of one book.
@Entity @Consistent
public struct Review: Equatable {
  public let id: String
  public var stars: Int
  public var by: String
  public var text: String

  public init(id: String, stars: Int, by: String, text: String) {
    self.id = id
    self.stars = stars
    self.by = by
    self.text = text
  }
}

/// A book for sale, with its author and what readers wrote about it.
@Entity @Consistent
public struct Book: Equatable {
  public let id: String
  public var title: String
  public var year: Int
  public var language: String
  public var subjects: [String]
  public var cents: Int
  public var stock: Int
  public var author: Author
  public var reviews: [Review]
}

/// An author with all of her books.
@Entity(id: \.author.id)
public struct AuthorBooks: Equatable {
  public var author: Author
  public var books: [Book]
}

/// A customer, with the books on her shelf.
@Entity
public struct User: Equatable {
  public let id: String
  public var name: String
  public var shelf: [Book]
}

/// How far the feed has come. It changes in the same transaction as what the event changes, so whoever shows it shows
/// the event too.
public struct FeedPosition: Identifiable, Sendable, Equatable {
  public let id: String
  public var events: Int
  public var arrival: ContinuousClock.Instant

  static let only = "feed"
}

extension AliasKey where T == User {
  static let currentUser = AliasKey("currentUser")
}

extension AliasKey where T == [Book] {
  static let catalogue = AliasKey("catalogue")
}

extension AliasKey where T == [Author] {
  static let authors = AliasKey("authors")
}

extension AliasKey where T == FeedPosition {
  static let feed = AliasKey("feed")
}
