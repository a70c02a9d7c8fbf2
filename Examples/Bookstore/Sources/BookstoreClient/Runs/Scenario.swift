import BookstoreKit
import ConcordConnect
import Foundation

/// Plays what a person would do on the page, without a page: after each step the screens are compared with each other, and with
/// the server where they can know what it has.
@MainActor
package final class Scenario {
  private let storefront: Storefront
  private let screens: FourScreens
  private var agreement = Agreement()
  private var say: (String) -> Void = { _ in }

  package init(_ storefront: Storefront) {
    self.storefront = storefront
    screens = FourScreens(storefront) {}
  }

  /// - Returns: whether all screens agreed, each time.
  /// - Throws: ``ScenarioError`` if something did not happen.
  package func run(_ say: @escaping (String) -> Void) async throws -> Bool {
    self.say = say
    try await until("the server's books are there") { self.storefront.connection.isConnected && !self.screens.books.isEmpty }
    let book = try shown()
    try await step("A price changes on the server") {
      try await self.storefront.setPrice(of: book.id, cents: book.cents + 100)
      try await self.until("the new price") { self.screens.bookContents?.row.cents == book.cents + 100 }
    }
    let copies = screens.cartContents?.copies ?? 0
    try await step("A copy is put into the cart") {
      try await self.storefront.forward(AddToCart(book: book.id, title: book.title))
      try await self.until("the copy") { self.screens.cartContents?.copies == copies + 1 }
    }
    try await step("A review is written") {
      let review = WriteReview(book: book.id, title: book.title, stars: 4, text: "Better than I remembered.")
      try await self.storefront.forward(review)
      try await self.until("the review") { self.screens.bookContents?.reviews.first == review.review }
    }
    try await step("An author is renamed") {
      try await self.storefront.forward(RenameAuthor(author: book.author.id, newName: "Somebody Else"))
      try await self.until("the new name") { self.screens.authorContents?.name == "Somebody Else" }
      try await self.storefront.forward(RenameAuthor(author: book.author.id, newName: book.author.name))
      try await self.until("the old name") { self.screens.authorContents?.name == book.author.name }
    }
    let result = agreement.disagreements.isEmpty
    say("\(result ? "all screens agree" : "THE SCREENS DISAGREE"): \(agreement.comparisons) comparisons")
    for disagreement in agreement.disagreements.prefix(20) { say("  \(disagreement)") }
    return result
  }

  private func shown() throws -> Book {
    guard let id = screens.selection, let book = screens.books.first(where: { $0.id == id }) else {
      throw ScenarioError(missing: "a book")
    }
    return book
  }

  private func step(_ name: String, _ body: () async throws -> Void) async throws {
    try await body()
    let compared = screens.compared()
    agreement += compared
    say("\(name): \(compared.disagreements.isEmpty ? "the screens agree" : "THE SCREENS DISAGREE")")
  }

  private func until(_ what: String, _ holds: () -> Bool) async throws {
    let latest = ContinuousClock.now + .seconds(30)
    while !holds() {
      guard ContinuousClock.now < latest else { throw ScenarioError(missing: what) }
      try await Task.sleep(for: .milliseconds(5))
    }
  }
}

/// What a scenario waits for has not come.
package struct ScenarioError: Error, CustomStringConvertible {
  let missing: String
  package var description: String { "this has not come within half a minute: \(missing)" }
}
