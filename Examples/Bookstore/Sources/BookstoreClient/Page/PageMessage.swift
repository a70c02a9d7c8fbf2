import BookstoreKit

/// What the page is told: the parts that have changed.
struct PageMessage: Codable, Sendable {
  /// Books of the list that are new, or have changed.
  var rows: [BookRow]?
  var book: BookContents?
  var author: AuthorContents?
  var cart: CartContents?
  var outbox: OutboxContents?
  var status: PageStatus?

  var isEmpty: Bool {
    rows == nil && book == nil && author == nil && cart == nil && outbox == nil && status == nil
  }

  /// Both as one.
  func updated(with newer: PageMessage) -> PageMessage {
    var message = newer
    if let rows {
      let again = Set((newer.rows ?? []).map(\.id))
      message.rows = rows.filter { !again.contains($0.id) } + (newer.rows ?? [])
    }
    message.book = newer.book ?? book
    message.author = newer.author ?? author
    message.cart = newer.cart ?? cart
    message.outbox = newer.outbox ?? outbox
    message.status = newer.status ?? status
    return message
  }
}

/// How the client stands with the server.
struct PageStatus: Codable, Equatable, Sendable {
  /// What the switch says.
  var isOnline: Bool
  /// Whether the server is heard of.
  var isConnected: Bool
  var isRefusing: Bool
  var serverURL: String
  var customer: String
}

/// What waits for the server, and what the server refused.
struct OutboxContents: Codable, Equatable, Sendable {
  struct Entry: Codable, Equatable, Sendable {
    var key: String
    var summary: String
    /// What it is about.
    var subject: String
    /// Why it still waits, or why it was refused.
    var reason: String?
  }

  var pending: [Entry] = []
  var refused: [Entry] = []
}
