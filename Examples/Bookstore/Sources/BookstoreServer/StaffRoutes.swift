import BookstoreKit
import BookstoreShared
import BookstoreWeb
import ConcordPersistence
import Hummingbird
import Synchronization

/// What the staff may ask for. It is written as any program writes to a store: devices are told all the same.
///
/// | request | what it does |
/// |---|---|
/// | `GET /` | whether the shop refuses what customers do |
/// | `POST /refusing` | makes it refuse, or take it again |
/// | `POST /books/ID/price` | changes a price by some cents |
final class StaffRoutes: Sendable {
  private let store: ShopStore
  private let refusing = Atomic(false)

  init(_ store: ShopStore) { self.store = store }

  var isRefusing: Bool { refusing.load(ordering: .sequentiallyConsistent) }

  func add(to router: Router<BasicRequestContext>) {
    router.get("/") { [self] _, _ in try Response.json(Refusing(isRefusing: isRefusing)) }
    router.post("/refusing") { [self] request, _ in
      refusing.store(try await request.json(Refusing.self).isRefusing, ordering: .sequentiallyConsistent)
      return try Response.json(Refusing(isRefusing: isRefusing))
    }
    router.post("/books/:book/price") { [self] request, context in
      let change = try await request.json(PriceChange.self)
      guard let price = try await changePrice(of: try context.parameters.require("book"), by: change.cents) else {
        throw HTTPError(.notFound, message: "There is no such book.")
      }
      return try Response.json(PriceChange(cents: price))
    }
  }

  /// - Returns: the new price; `nil` if there is no such book.
  private func changePrice(of id: Book.ID, by cents: Int) async throws -> Int? {
    // Each conflict means that somebody else has changed the price, so the attempts end.
    for _ in 0..<100 {
      do {
        let context = store.container.newBackgroundContext()
        context.mergePolicy = .error
        return try await context.perform { context in
          guard let book = try context.find(Book.self, id: id) else { return nil }
          let (sum, isTooLarge) = book.cents.addingReportingOverflow(cents)
          let price = isTooLarge ? book.cents : min(max(0, sum), 100_000_000)
          try context.update(Book.self, id: id) { $0.cents = price }
          try context.save()
          return price
        }
      } catch StoreError.conflict {
        try await Task.sleep(for: .milliseconds(.random(in: 1...10)))
      }
    }
    throw HTTPError(.serviceUnavailable, message: "Too many changes are made at the same time.")
  }
}
