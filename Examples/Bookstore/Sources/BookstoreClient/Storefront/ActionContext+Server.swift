import BookstoreKit
import ConcordConnect

// What the server says is stored unless something newer is there: pages and events overtake each other. The same version is
// stored again, because what a customer did was written over it without knowing what the server would make of it.

extension ActionContext {
  func take(_ book: Book) throws {
    var book = book
    if let known = try find(Author.self, id: book.author.id), known.version > book.author.version {
      book.author = known
    }
    if let known = try find(Book.self, id: book.id), known.version > book.version {
      return try take(book.author)
    }
    insert(book)
  }

  func take(_ author: Author) throws {
    if let known = try find(Author.self, id: author.id), known.version > author.version { return }
    insert(author)
  }

  func take(_ line: LineOfCart) throws {
    guard line.customer == Cart.own, let book = try find(Book.self, id: line.book) else { return }
    if let known = try find(CartLine.self, id: line.book), known.version > line.version { return }
    let new = CartLine(id: line.book, book: book, copies: line.copies, version: line.version)
    var cart = try find(Cart.self, id: Cart.own) ?? Cart(id: Cart.own, lines: [])
    if let index = cart.lines.firstIndex(where: { $0.id == new.id }) {
      cart.lines[index] = new
    } else {
      cart.lines.append(new)
    }
    insert(cart)
  }

  func take(_ event: ServerEvent) throws {
    if let book = event.book { try take(book) }
    if let author = event.author { try take(author) }
    if let line = event.line { try take(line) }
  }
}
