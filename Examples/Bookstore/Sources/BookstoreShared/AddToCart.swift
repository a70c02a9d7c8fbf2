public import BookstoreKit
public import ConcordSync
import Foundation

/// Puts a copy of a book into a customer's cart.
public struct AddToCart: ShopAction {
  public static let name = "add-to-cart"

  public var customer: String
  public var book: Book.ID
  public var title: String
  public var copy = UUID().uuidString.lowercased()

  public init(customer: String, book: Book.ID, title: String) {
    (self.customer, self.book, self.title) = (customer, book, title)
  }

  public var summary: String { "Put “\(title)” into the cart" }
  public var subject: String { book }
  public var entity: AnyEntityReference { .init(Cart.self, id: customer) }
  public var touches: [AnyEntityReference] { [.init(Book.self, id: book)] }

  public func apply(to store: EntityStore) throws {
    guard let book = store.find(Book.self, id: book)?.value else { throw ShopProblem.noBook(book) }
    let id = CartLine.id(customer, book.id)
    if store.find(CartLine.self, id: id) != nil {
      store.update(CartLine.self, id: id) { $0.copies.append(copy) }
      return
    }
    let line = CartLine(id: id, book: book, copies: [copy])
    if store.find(Cart.self, id: customer) != nil {
      store.update(Cart.self, id: customer) { $0.lines.append(line) }
    } else {
      store.store(Cart(id: customer, lines: [line]))
    }
  }
}
