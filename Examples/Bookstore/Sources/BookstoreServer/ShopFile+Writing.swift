import BookstoreKit
import BookstoreWeb
import Foundation
import GRDB

/// A request that changes something.
struct ChangeRequest: Sendable {
  /// By which it is recognised when it comes again.
  var key: String?
  /// What it is called in `Applied`.
  var action: String
  /// The book that it is about, or the author.
  var subject: String
  /// What tells it from another request that has the same key by mistake.
  var fingerprint: Data
  /// Whether the shop may refuse it, as it does with what customers send.
  var isCustomers: Bool
}

extension ShopFile {
  /// Applies a change, its row in `Applied` and its answer in one transaction; a request whose key is known changes nothing,
  /// and gets the answer that it got before. Refusals are not kept: what is refused may be tried again.
  ///
  /// - Throws: ``Refusal``
  func apply(
    _ request: ChangeRequest, isRefusing: Bool,
    _ body: @escaping @Sendable (Database, _ version: Int) throws -> (Answer, ServerEvent)
  ) async throws -> Answer {
    try await database.write { db in
      if let key = request.key, let known = try Self.answer(db, key, request) { return known }
      if isRefusing, request.isCustomers { throw Refusal.conflict("The shop takes nothing at the moment.") }
      let version = try Self.version(db) + 1
      try db.execute(sql: "UPDATE Version SET number = ?", arguments: [version])
      let (answer, event) = try body(db, version)
      if let key = request.key {
        try db.execute(
          sql: "INSERT INTO Applied (key, book, action) VALUES (?, ?, ?)",
          arguments: [key, request.subject, request.action])
        try db.execute(
          sql: "INSERT INTO Answer (key, request, status, body) VALUES (?, ?, ?, ?)",
          arguments: [key, request.fingerprint, answer.status, answer.body])
      }
      // In the order of the transactions.
      db.afterNextTransaction { [feed] _ in feed.send(event) }
      return answer
    }
  }

  private static func answer(_ db: Database, _ key: String, _ request: ChangeRequest) throws -> Answer? {
    guard let row = try Row.fetchOne(db, sql: "SELECT * FROM Answer WHERE key = ?", arguments: [key]) else {
      return nil
    }
    guard row["request"] as Data == request.fingerprint else {
      throw Refusal.invalid("Another request had this idempotency key.")
    }
    return Answer(status: row["status"], body: row["body"])
  }

  // MARK: What changes

  static func setPrice(_ db: Database, _ book: Book.ID, _ cents: Int, _ version: Int) throws -> ServerEvent {
    try db.execute(
      sql: "UPDATE Book SET cents = ?, version = ? WHERE id = ?", arguments: [cents, version, book])
    return ServerEvent(version: version, book: try Self.book(db, book))
  }

  static func add(_ db: Database, _ review: Review, to book: Book.ID, _ version: Int) throws -> ServerEvent {
    _ = try Self.book(db, book)
    let known = try String.fetchOne(db, sql: "SELECT book FROM Review WHERE id = ?", arguments: [review.id])
    if known != nil { throw Refusal.conflict("There is a review \"\(review.id)\" already.") }
    try db.execute(
      sql: "INSERT INTO Review (id, book, stars, \"by\", text) VALUES (?, ?, ?, ?, ?)",
      arguments: [review.id, book, review.stars, review.by, review.text])
    try db.execute(sql: "UPDATE Book SET version = ? WHERE id = ?", arguments: [version, book])
    return ServerEvent(version: version, book: try Self.book(db, book))
  }

  static func rename(_ db: Database, _ author: Author.ID, _ name: String, _ version: Int) throws -> ServerEvent {
    try db.execute(
      sql: "UPDATE Author SET name = ?, version = ? WHERE id = ?", arguments: [name, version, author])
    return ServerEvent(version: version, author: try Self.author(db, author))
  }

  static func put(_ db: Database, _ copy: Wire.Copy, into customer: String, _ version: Int) throws -> ServerEvent {
    _ = try Self.book(db, copy.book)
    let known = try Int64.fetchOne(db, sql: "SELECT number FROM Copy WHERE id = ?", arguments: [copy.id])
    if known != nil { throw Refusal.conflict("There is a copy \"\(copy.id)\" already.") }
    try db.execute(
      sql: """
        INSERT INTO Line (customer, book, version) VALUES (?, ?, ?)
        ON CONFLICT (customer, book) DO UPDATE SET version = excluded.version
        """, arguments: [customer, copy.book, version])
    let number = try Int64.fetchOne(
      db, sql: "SELECT number FROM Line WHERE customer = ? AND book = ?", arguments: [customer, copy.book])
    try db.execute(sql: "INSERT INTO Copy (id, line) VALUES (?, ?)", arguments: [copy.id, number])
    return ServerEvent(version: version, line: try number.flatMap { try Self.line(db, $0) })
  }
}
