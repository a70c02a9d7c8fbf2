import BookstoreKit
import BookstoreShared
import ConcordServer
import Foundation
import HTTPTypes
import Hummingbird
import Logging

/// Who asks.
struct Customer: Identifiable, Sendable {
  let id: String

  /// The customer of a token. Here, it is her name: a shop that sells asks for more.
  init?(token: String?) {
    guard let name = token?.split(separator: " ").last, name.count <= 50,
      name.allSatisfy({ $0.isLetter || $0.isNumber })
    else { return nil }
    id = String(name)
  }
}

extension SyncService<Customer> {
  /// The shop, as its customers' devices know it: all see the books, and each sees her own cart.
  static func shop(
    _ container: any PersistentContainer, limits: SyncLimits, isRefusing: @escaping @Sendable () -> Bool,
    seen: @escaping @Sendable (Customer) -> Void
  ) -> SyncService {
    var logger = Logger(label: "bookstore")
    logger.logLevel = .warning
    let service = SyncService(container, actions: shopActions, limits: limits, logger: logger) { request in
      let customer = Customer(token: request.headers[.authorization])
      if let customer { seen(customer) }
      return customer
    }
    service.publish("books", of: Book.self) { _, _ in #Predicate<Book> { _ in true } }
    service.publish("cart", of: Cart.self) { customer, _ in
      let name = customer.id
      return #Predicate<Cart> { $0.id == name }
    }

    @Sendable func take() throws { if isRefusing() { throw Refusal("The shop takes nothing at the moment.") } }
    service.allow(AddToCart.self) { action, customer in
      try take()
      return action.customer == customer.id
    }
    service.allow(WriteReview.self) { action, customer, store in
      try take()
      // Everybody sees the ids of the reviews of a book.
      if store.find(Review.self, id: action.review.id) != nil { throw Refusal("There is such a review already.") }
      if action.review.text.count > 2000 { throw Refusal("The review is longer than 2,000 characters.") }
      return action.review.by == customer.id
    }
    service.allow(RenameAuthor.self) { action, _ in
      try take()
      if !(1...200).contains(action.newName.count) { throw Refusal("A name has 1 to 200 characters.") }
      return true
    }
    return service
  }
}

/// Why the shop refuses an action, for people.
struct Refusal: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
