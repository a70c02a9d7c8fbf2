import Concord
import Testing

@testable import BookstoreKit

@MainActor
@Suite("Legacy screen")
struct LegacyTests {
  /// Waits until the screen that is not on the store has caught up, too.
  private func agree(_ open: OpenShop) async throws -> Bool {
    for _ in 0..<3000 {
      if open.disagreements.isEmpty { return true }
      try await Task.sleep(for: .milliseconds(10))
    }
    return false
  }

  @Test("It follows the store without observing it")
  func follows() async throws {
    let open = try OpenShop(hasLegacy: true)
    let book = open.fixture.display.book
    try await open.receive(.price(book: book.id, cents: 4242), at: 1)
    try await open.receive(.name(author: book.author.id, name: "Somebody Else"), at: 2)
    try await open.receive(.review(book: book.id, Review(id: "r", stars: 5, by: "Ada", text: "Yes.")), at: 3)
    #expect(try await agree(open))
    let own = try #require(open.dashboard.legacy?.books.first)
    #expect(own.cents == 4242)
    #expect(own.author.name == "Somebody Else")
    #expect(own.reviews.map(\.id) == ["r"])
  }

  @Test("What it changes reaches the store, and all other screens")
  func sells() async throws {
    let open = try OpenShop(hasLegacy: true)
    let legacy = try #require(open.dashboard.legacy)
    let book = open.fixture.display.book
    legacy.sell()
    try await open.settle()
    #expect(open.shop.store.find(Book.self, id: book.id)?.value.stock == book.stock - 1)
    for screen in open.dashboard.screens {
      #expect(screen.shown.books.first { $0.id == book.id }?.stock == book.stock - 1, "\(screen.name)")
    }
  }

  @Test("Paused, it stays as it is; then it catches up")
  func paused() async throws {
    let open = try OpenShop(hasLegacy: true)
    let legacy = try #require(open.dashboard.legacy)
    legacy.pause()
    try await open.receive(.price(book: open.fixture.display.book.id, cents: 4242), at: 1)
    try await open.settle()
    #expect(legacy.books.first?.cents == open.fixture.display.book.cents)
    legacy.resume()
    #expect(try await agree(open))
  }

  @Test("It loses a book that was removed from the store")
  func removed() async throws {
    let open = try OpenShop(hasLegacy: true)
    try await open.receive(.remove(book: open.fixture.display.book.id), at: 1)
    #expect(try await agree(open))
    #expect(open.dashboard.legacy?.books.contains { $0.id == open.fixture.display.book.id } == false)
    #expect(open.dashboard.legacy?.books.isEmpty == false)
  }
}
