public import ConcordConsistencyMacros
public import ConcordPersistenceMacros

/// Somebody who wrote books.
@PersistentEntity @Consistent
public struct Author: Equatable, Codable {
  public let id: String
  public var name: String

  public init(id: String, name: String) {
    self.id = id
    self.name = name
  }
}

/// What one reader thinks of one book.
@PersistentEntity @Consistent
public struct Review: Equatable, Codable {
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
@PersistentEntity @Consistent
public struct Book: Equatable, Codable {
  public let id: String
  /// Its place in the catalogue.
  @Attribute(.indexed) public var number: Int
  public var title: String
  public var year: Int
  public var language: String
  public var subjects: [String]
  public var cents: Int
  public var stock: Int
  public var author: Author
  public var reviews: [Review]

  public init(
    id: String, number: Int, title: String, year: Int, language: String, subjects: [String], cents: Int, stock: Int,
    author: Author, reviews: [Review]
  ) {
    (self.id, self.number, self.title, self.year, self.language) = (id, number, title, year, language)
    (self.subjects, self.cents, self.stock) = (subjects, cents, stock)
    (self.author, self.reviews) = (author, reviews)
  }
}

/// An author with all of her books. It is no entity of the file: a screen makes it of what is there.
@Entity(id: \.author.id)
public struct AuthorBooks: Equatable {
  public var author: Author
  public var books: [Book]

  package init(author: Author, books: [Book]) {
    self.author = author
    self.books = books
  }
}

/// A customer, with the books on her shelf and the one that she looks at.
@PersistentEntity
public struct User: Equatable {
  public let id: String
  public var name: String
  public var shelf: [Book]
  public var selected: Book?

  static let only = "reader"
}

/// How far the feed has come since the start. It changes in the same transaction as what the event changes, so whoever shows it shows
/// the event too.
public struct FeedPosition: Identifiable, Sendable, Equatable {
  public let id: String
  public var events: Int
  public var arrival: ContinuousClock.Instant

  static let only = "feed"
}

extension AliasKey where T == FeedPosition {
  static let feed = AliasKey("feed")
}
