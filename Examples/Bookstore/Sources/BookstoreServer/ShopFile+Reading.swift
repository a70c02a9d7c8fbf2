import BookstoreKit
import Foundation
import GRDB

extension ShopFile {
  func version() async throws -> Int { try await database.read(Self.version) }

  static func version(_ db: Database) throws -> Int {
    try Int.fetchOne(db, sql: "SELECT number FROM Version") ?? 0
  }

  func book(_ id: Book.ID) async throws -> Book {
    try await database.read { db in try Self.book(db, id) }
  }

  static func book(_ db: Database, _ id: Book.ID) throws -> Book {
    guard let book = try books(db, "Book.id = ?", [id]).first else { throw Refusal.notFound("book \"\(id)\"") }
    return book
  }

  /// So many books as stand after a place in the catalogue.
  func books(after number: Int, count: Int) async throws -> [Book] {
    try await database.read { db in
      let last = try Int.fetchOne(
        db, sql: "SELECT number FROM Book WHERE number > ? ORDER BY number LIMIT 1 OFFSET ?",
        arguments: [number, count - 1])
      return try Self.books(db, "Book.number > ? AND Book.number <= ?", [number, last ?? .max])
    }
  }

  private static func books(_ db: Database, _ condition: String, _ arguments: StatementArguments) throws -> [Book] {
    let reviews = try Row.fetchAll(
      db,
      sql: """
        SELECT Review.* FROM Review JOIN Book ON Book.id = Review.book WHERE \(condition) ORDER BY Review.number
        """, arguments: arguments)
    let byBook = Dictionary(grouping: reviews) { $0["book"] as String }
    let rows = try Row.fetchAll(
      db,
      sql: """
        SELECT Book.*, Author.name AS authorName, Author.version AS authorVersion
        FROM Book JOIN Author ON Author.id = Book.author WHERE \(condition) ORDER BY Book.number
        """, arguments: arguments)
    return try rows.map { row in
      let id: String = row["id"]
      return Book(
        id: id, number: row["number"], title: row["title"], year: row["year"], language: row["language"],
        subjects: try JSONDecoder().decode([String].self, from: row["subjects"]), cents: row["cents"],
        stock: row["stock"],
        author: Author(id: row["author"], name: row["authorName"], version: row["authorVersion"]),
        reviews: (byBook[id] ?? []).map { review in
          Review(id: review["id"], stars: review["stars"], by: review["by"], text: review["text"])
        }, version: row["version"])
    }
  }

  func author(_ id: Author.ID) async throws -> Author {
    try await database.read { db in try Self.author(db, id) }
  }

  static func author(_ db: Database, _ id: Author.ID) throws -> Author {
    guard let row = try Row.fetchOne(db, sql: "SELECT * FROM Author WHERE id = ?", arguments: [id]) else {
      throw Refusal.notFound("author \"\(id)\"")
    }
    return Author(id: id, name: row["name"], version: row["version"])
  }

  /// A customer's cart, in the order in which the books came into it.
  func cart(of customer: String) async throws -> [LineOfCart] {
    try await database.read { db in try Self.lines(db, "Line.customer = ?", [customer]) }
  }

  static func line(_ db: Database, _ number: Int64) throws -> LineOfCart? {
    try lines(db, "Line.number = ?", [number]).first
  }

  private static func lines(
    _ db: Database, _ condition: String, _ arguments: StatementArguments
  ) throws -> [LineOfCart] {
    let copies = try Row.fetchAll(
      db, sql: "SELECT Copy.* FROM Copy JOIN Line ON Line.number = Copy.line WHERE \(condition) ORDER BY Copy.number",
      arguments: arguments)
    let byLine = Dictionary(grouping: copies) { $0["line"] as Int64 }
    let rows = try Row.fetchAll(
      db, sql: "SELECT * FROM Line WHERE \(condition) ORDER BY number", arguments: arguments)
    return rows.map { row in
      LineOfCart(
        customer: row["customer"], book: row["book"], copies: (byLine[row["number"]] ?? []).map { $0["id"] },
        version: row["version"])
    }
  }
}
