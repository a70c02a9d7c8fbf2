/// What the shop sells when it opens: at least one book, each with its author.
public struct Catalogue: Sendable {
  public let authors: [Author]
  public let books: [Book]

  init(authors: [Author], books: [Book]) {
    self.authors = authors
    self.books = books
  }
}
