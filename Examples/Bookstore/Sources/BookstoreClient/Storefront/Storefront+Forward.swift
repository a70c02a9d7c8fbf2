import BookstoreKit
import BookstoreShared
import ConcordSync

extension Storefront {
  /// Does what the customer wants: when this returns, it is on the screens and in the file, and will reach the server.
  @discardableResult
  func forward(_ action: some ShopAction) async throws -> IdempotencyKey {
    try await connect.forward(action).key
  }

  func addToCart(_ book: Book) -> AddToCart { AddToCart(customer: customer, book: book.id, title: book.title) }

  func review(_ book: Book, stars: Int, text: String) -> WriteReview {
    WriteReview(customer: customer, book: book.id, title: book.title, stars: stars, text: text)
  }

  /// Sends a refused action again.
  func retry(_ key: String) throws { connect.outbox.retry(try letter(key)) }

  /// Gives a refused action up.
  func drop(_ key: String) throws { connect.outbox.drop(try letter(key)) }

  private func letter(_ key: String) throws -> DeadLetter {
    guard let letter = connect.outbox.deadLetters.first(where: { $0.key.rawValue == key }) else {
      throw CommandProblem.noLetter
    }
    return letter
  }

  /// What waits for the server, and what the server refused.
  var outboxContents: OutboxContents {
    let outbox = connect.outbox
    return OutboxContents(
      pending: outbox.pending.map { .init($0, reason: $0.isSending ? "being sent" : $0.lastError) },
      refused: outbox.deadLetters.map { .init($0.entry, reason: $0.reason) })
  }
}

extension OutboxContents.Entry {
  fileprivate init(_ entry: OutboxEntry, reason: String?) {
    let action = entry.action as? any ShopAction
    self.init(
      key: entry.key.rawValue, summary: action?.summary ?? entry.name, subject: action?.subject ?? entry.entity,
      reason: reason)
  }
}
