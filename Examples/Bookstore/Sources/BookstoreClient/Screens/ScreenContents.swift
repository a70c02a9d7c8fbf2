import BookstoreKit
import BookstoreShared

// What the four screens show, as the page gets it.

/// A book in a list.
struct BookRow: Codable, Equatable, Sendable {
  var id: Book.ID
  var number: Int
  var title: String
  var authorID: Author.ID
  var author: String
  var cents: Int
  /// Tenths of a star; 0 without reviews.
  var stars: Int
  var reviews: Int

  init(_ book: Book) {
    (id, number, title, cents) = (book.id, book.number, book.title, book.cents)
    (authorID, author) = (book.author.id, book.author.name)
    reviews = book.reviews.count
    stars = reviews == 0 ? 0 : book.reviews.reduce(0) { $0 + $1.stars } * 10 / reviews
  }
}

struct BookContents: Codable, Equatable, Sendable {
  var row: BookRow
  var year: Int
  var language: String
  var subjects: [String]
  /// The newest first.
  var reviews: [Review]

  init(_ book: Book) {
    row = BookRow(book)
    (year, language, subjects) = (book.year, book.language, book.subjects)
    reviews = book.reviews.reversed()
  }
}

struct AuthorContents: Codable, Equatable, Sendable {
  var id: Author.ID
  var name: String
  var books: [BookRow]

  init(_ author: AuthorBooks) {
    (id, name) = (author.author.id, author.author.name)
    books = author.books.map(BookRow.init)
  }
}

struct CartContents: Codable, Equatable, Sendable {
  struct Line: Codable, Equatable, Sendable {
    var book: BookRow
    var copies: Int
  }

  var lines: [Line]
  var copies: Int
  var cents: Int

  init(_ cart: Cart?) {
    // In the order of the catalogue, so that no line changes its place.
    lines = (cart?.lines ?? []).map { Line(book: BookRow($0.book), copies: $0.copies.count) }
      .sorted { $0.book.number < $1.book.number }
    copies = lines.reduce(0) { $0 + $1.copies }
    cents = lines.reduce(0) { $0 + $1.copies * $1.book.cents }
  }
}
