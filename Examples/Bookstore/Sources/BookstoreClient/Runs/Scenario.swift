import BookstoreKit
import BookstoreShared
import ConcordSync
import Foundation

/// Plays what a person would do on the page, without a page: after each step the screens are compared with each other, and with
/// those of a second device of the customer where both can know what the server has.
@MainActor
package final class Scenario {
  private let storefront: Storefront
  private let screens: FourScreens
  private let other: Storefront
  private let otherScreens: FourScreens
  private var agreement = Agreement()
  private var say: (String) -> Void = { _ in }

  /// - Parameters:
  ///   - storefront: the customer's device.
  ///   - other: another one of hers.
  package init(_ storefront: Storefront, other: Storefront) {
    (self.storefront, self.other) = (storefront, other)
    (screens, otherScreens) = (FourScreens(storefront) {}, FourScreens(other) {})
  }

  /// - Returns: whether all screens agreed, each time.
  /// - Throws: ``ScenarioError`` if something did not happen; what the server says.
  package func run(_ say: @escaping (String) -> Void) async throws -> Bool {
    self.say = say
    try await until("the server's books are there") { [self] in
      storefront.sync.status == .upToDate && !screens.books.isEmpty && screens.bookContents != nil
    }
    try await storefront.setRefusing(false)
    try await online()
    try await offline()
    try await refused()
    let holds = agreement.disagreements.isEmpty
    say("\(holds ? "all screens agree" : "THE SCREENS DISAGREE"): \(agreement.comparisons) comparisons")
    for disagreement in agreement.disagreements.prefix(20) { say("  \(disagreement)") }
    return holds
  }

  private func online() async throws {
    let (book, copies) = (try shown(), copies)
    try await step("A price changes on the server") { [self] in
      try await storefront.changePrice(of: book.id, by: 100)
      try await until("the new price") { self.screens.bookContents?.row.cents == book.cents + 100 }
    }
    try await step("A copy is put into the cart") { [self] in
      try await storefront.forward(storefront.addToCart(book))
      try await until("the copy") { self.copies == copies + 1 }
    }
    let review = storefront.review(book, stars: 4, text: "Better than I remembered.")
    try await step("A review is written") { [self] in
      try await storefront.forward(review)
      try await until("the review") { self.screens.bookContents?.reviews.contains(review.review) ?? false }
    }
    try await step("An author is renamed") { [self] in
      try await storefront.forward(RenameAuthor(author: book.author.id, newName: "Somebody Else"))
      try await until("the new name") { self.screens.authorContents?.name == "Somebody Else" }
    }
    try await compareWithOther("The server has heard of it")
  }

  private func offline() async throws {
    let (book, copies) = (try shown(), copies)
    let review = storefront.review(book, stars: 2, text: "Written in a tunnel.")
    try await step("Offline, all of this is seen at once, and waits") { [self] in
      storefront.isOnline = false
      try await storefront.forward(storefront.addToCart(book))
      try await storefront.forward(review)
      try await storefront.forward(RenameAuthor(author: book.author.id, newName: "Once More"))
      try await until("what was done offline") { [self] in
        self.copies == copies + 1 && screens.authorContents?.name == "Once More"
          && screens.bookContents?.reviews.contains(review.review) ?? false
      }
      agreement.expect(storefront.outboxContents.pending.count == 3, "not three actions wait")
    }
    try await step("Meanwhile the price changes on the server, which is not heard of") { [self] in
      try await storefront.changePrice(of: book.id, by: 50)
      try await Task.sleep(for: .milliseconds(300))
      agreement.expect(screens.bookContents?.row.cents == book.cents, "a price was heard of offline")
    }
    try await step("Online again, the new price comes") { [self] in
      storefront.isOnline = true
      try await until("the new price") { self.screens.bookContents?.row.cents == book.cents + 50 }
    }
    try await compareWithOther("The outbox has drained")
  }

  private func refused() async throws {
    let (book, copies) = (try shown(), copies)
    try await step("The server refuses a copy, which leaves the cart") { [self] in
      try await storefront.setRefusing(true)
      try await storefront.forward(storefront.addToCart(book))
      try await until("the refusal") { !self.storefront.outboxContents.refused.isEmpty && self.copies == copies }
    }
    try await step("Tried again, it is taken") { [self] in
      try await storefront.setRefusing(false)
      for letter in storefront.outboxContents.refused {
        say("  refused: \(letter.summary): \(letter.reason ?? "")")
        try storefront.retry(letter.key)
      }
      try await until("the copy") { self.copies == copies + 1 }
    }
    try await compareWithOther("The server has everything")
  }

  private var copies: Int { screens.cartContents?.copies ?? 0 }

  /// Compares what the screens show with what the other device shows, once nothing is on its way.
  private func compareWithOther(_ name: String) async throws {
    for device in [storefront, other] { try await device.sync.checkpoint() }
    if let selection = screens.selection { otherScreens.select(selection) }
    try await step("\(name), and another device shows the same") { [self] in
      try await until("what the other device has") { [self] in
        screens.bookContents == otherScreens.bookContents && screens.authorContents == otherScreens.authorContents
          && screens.cartContents == otherScreens.cartContents && screens.books == otherScreens.books
      }
      agreement.expect(storefront.outboxContents.pending.isEmpty, "something is left in the outbox")
    }
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
