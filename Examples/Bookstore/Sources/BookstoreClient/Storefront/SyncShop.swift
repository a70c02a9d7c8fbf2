import BookstoreKit
import ConcordConnect
import Foundation

/// Fetches what the server has: all books, page by page, and the cart. Pages that are as they were are not sent again.
struct SyncShop: EntityAction, Sendable {
  typealias ManagedObjectType = Book

  let books: Resource<Book>
  let network: Network

  init(_ network: Network) {
    self.network = network
    books = Resource(at: "/books", of: network)
  }

  func execute(context: ActionContext) async throws {
    do { try await takeBooks(context) } catch {
      // A page that was not stored would be left out as unchanged the next time.
      books.forgetPages()
      throw error
    }
    let cart = try await network.send(TransportRequest("GET", "/carts/\(Cart.own)")).successful()
    let lines = try JSONDecoder().decode([LineOfCart].self, from: cart.body)
    try context.performAndWait { () throws -> Void in
      for line in lines { try context.take(line) }
      try context.save()
    }
  }

  private func takeBooks(_ context: ActionContext) async throws {
    var next: TransportRequest? = TransportRequest("GET", "/books")
    while let request = next {
      let page = try await books.page(request)
      if !page.isUnchanged {
        try context.performAndWait { () throws -> Void in
          for book in page.items { try context.take(book) }
          try context.save()
        }
      }
      next = page.next
    }
  }
}

/// Fetches an author as the server has her.
struct RefreshAuthor: EntityAction, Sendable {
  typealias ManagedObjectType = Book

  let author: Author.ID
  let network: Network

  func execute(context: ActionContext) async throws {
    try context.take(try await Resource<Author>(at: "/authors", of: network).get(author))
    try context.save()
  }
}

/// Stores what the server's feed says.
struct TakeEvent: EntityAction, Sendable {
  // In line with ``SyncShop``, so that none stores what it has read before the other has stored something newer.
  typealias ManagedObjectType = Book

  let event: ServerEvent

  func execute(context: ActionContext) throws {
    try context.take(event)
    try context.save()
  }
}
