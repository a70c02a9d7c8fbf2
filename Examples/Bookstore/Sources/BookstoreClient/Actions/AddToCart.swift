import BookstoreKit
import ConcordConnect
import Foundation

/// Puts a copy of a book into the cart.
struct AddToCart: ShopAction {
  static let name = "add-to-cart"

  var book: Book.ID
  var title: String
  /// The copy's name. The server may say that it is in the cart before it has answered.
  var copy = UUID().uuidString.lowercased()

  var summary: String { "Put “\(title)” into the cart" }
  var subject: String { book }
  var entity: AnyEntityReference { .init(Book.self, id: book) }
  // The cart, because it is changed, too.
  var touches: [AnyEntityReference] { [.init(Cart.self, id: Cart.own)] }

  func apply(to store: EntityStore) throws {
    guard let book = store.find(Book.self, id: book)?.value else { throw ActionProblem.noBook(book) }
    if store.find(CartLine.self, id: book.id) != nil {
      store.update(CartLine.self, id: book.id) { if !$0.copies.contains(copy) { $0.copies.append(copy) } }
    } else {
      store.update(Cart.self, id: Cart.own) { $0.lines.append(CartLine(id: book.id, book: book, copies: [copy])) }
    }
  }

  func send(with transport: any Transport, key: IdempotencyKey) async throws {
    let body = Wire.Copy(id: copy, book: book)
    try await send("POST", "/carts/\(Cart.own)/copies", body, with: transport, key: key)
  }
}
