#if Persistence
  import ConcordModel
  import Foundation
  import GRDB
  import GRDBSQLite

  // SQLite's own interface is used, because GRDB makes a `String` of each text. Relies on: the pointers that SQLite gives to a function
  // or a collation are valid until it returns, with the lengths that it tells; nothing is kept.

  /// The functions and collations with which queries compare and search texts, and calculate. They stand in queries
  /// only, never in a schema, so that other programs can open, read and write the files.
  enum SQLiteFunctions {
    /// The order of texts that all sorts use, which also tells whether two are equal.
    static let lexical = "concord_lexical"
    /// Swift's `<`, which is not an order for all texts, so nothing may be sorted by it.
    static let swift = "concord_swift"
    static let contains = "concord_contains"
    static let starts = "concord_starts"
    static let characters = "concord_characters"
    static let numbers = "concord_numbers"
    static let arithmetic = "concord_arithmetic"
    /// Whether texts are a hit of a search.
    static let matches = "concord_matches"

    static func register(_ db: Database) throws {
      guard let connection = db.sqliteConnection else { return }
      SQLiteComparators.register(connection)
      try SQLiteExactSum.register(connection)
      try SQLiteSearchFunction.register(connection)
      func check(_ code: Int32) throws {
        if code != SQLITE_OK { throw SQLiteFailure(code: code, message: "functions cannot be registered") }
      }
      try check(
        sqlite3_create_collation_v2(
          connection, lexical, SQLITE_UTF8, nil,
          { _, aCount, a, bCount, b in
            SQLiteFunctions.sign(
              TextOrder.compare(.init(start: a, count: Int(aCount)), .init(start: b, count: Int(bCount))))
          }, nil))
      try check(
        sqlite3_create_collation_v2(
          connection, swift, SQLITE_UTF8, nil,
          { _, aCount, a, bCount, b in
            SQLiteFunctions.sign(
              TextOrder.compareAsSwift(.init(start: a, count: Int(aCount)), .init(start: b, count: Int(bCount))))
          }, nil))
      let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY
      try check(
        sqlite3_create_function_v2(
          connection, contains, 2, flags, nil,
          { context, _, values in
            let found = SQLiteFunctions.texts(values) { TextSearch.contains($0, $1) }
            sqlite3_result_int(context, found ? 1 : 0)
          }, nil, nil, nil))
      try check(
        sqlite3_create_function_v2(
          connection, starts, 2, flags, nil,
          { context, _, values in
            let found = SQLiteFunctions.texts(values) { TextSearch.starts($0, with: $1) }
            sqlite3_result_int(context, found ? 1 : 0)
          }, nil, nil, nil))
      try check(
        sqlite3_create_function_v2(
          connection, characters, 1, flags, nil,
          { context, _, values in
            guard let text = SQLiteFunctions.text(values?[0]) else { return sqlite3_result_null(context) }
            sqlite3_result_int64(context, Int64(TextSearch.count(text)))
          }, nil, nil, nil))
      try check(
        sqlite3_create_function_v2(
          connection, numbers, 3, flags, nil,
          { context, _, values in
            let relation = StoredRelation(number: sqlite3_value_int64(values?[0]))
            let isTrue =
              relation?.holds(SQLiteFunctions.stored(values?[1]), SQLiteFunctions.stored(values?[2])) ?? false
            sqlite3_result_int(context, isTrue ? 1 : 0)
          }, nil, nil, nil))
      try check(
        sqlite3_create_function_v2(
          connection, arithmetic, 4, flags, nil,
          { context, _, values in
            guard let operation = StoredArithmetic(rawValue: sqlite3_value_int64(values?[0])),
              let type = StoredNumber(rawValue: sqlite3_value_int64(values?[1]))
            else { return sqlite3_result_null(context) }
            do {
              SQLiteFunctions.give(
                try operation.result(SQLiteFunctions.stored(values?[2]), SQLiteFunctions.stored(values?[3]), type),
                context)
            } catch {
              sqlite3_result_error(context, "\(error)", -1)
              // The code that is left to functions. The text stays.
              sqlite3_result_error_code(context, SQLiteFailure.ofFunction)
            }
          }, nil, nil, nil))
    }

    private static func sign(_ result: Int) -> Int32 { Int32(result.signum()) }

    /// The bytes of a text; `nil` for anything else.
    private static func text(_ value: OpaquePointer?) -> UnsafeRawBufferPointer? {
      guard sqlite3_value_type(value) == SQLITE_TEXT, let bytes = sqlite3_value_text(value) else { return nil }
      return UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(value)))
    }

    /// Calls a closure with two texts; `false` if an argument is not a text.
    private static func texts(
      _ values: UnsafeMutablePointer<OpaquePointer?>?, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
    ) -> Bool {
      guard let a = text(values?[0]), let b = text(values?[1]) else { return false }
      return body(a, b)
    }

    /// A number as it is stored.
    static func stored(_ value: OpaquePointer?) -> StoredValue {
      switch sqlite3_value_type(value) {
      case SQLITE_INTEGER: .integer(sqlite3_value_int64(value))
      case SQLITE_FLOAT: .real(sqlite3_value_double(value))
      case SQLITE_BLOB:
        .blob(
          sqlite3_value_blob(value).map { Data(bytes: $0, count: Int(sqlite3_value_bytes(value))) } ?? Data())
      default: .null
      }
    }

    static func give(_ value: StoredValue, _ context: OpaquePointer?) {
      switch value {
      case .integer(let value): sqlite3_result_int64(context, value)
      case .real(let value): sqlite3_result_double(context, value)
      case .blob(let bits):
        // SQLite makes a copy: this is C's `SQLITE_TRANSIENT`, a cast that Swift does not import.
        bits.withUnsafeBytes {
          sqlite3_result_blob(
            context, $0.baseAddress, Int32($0.count), unsafeBitCast(-1, to: sqlite3_destructor_type.self))
        }
      case .null, .text: sqlite3_result_null(context)
      }
    }
  }

  extension StoredRelation {
    /// The number of a comparison between an integer and a number with a fraction, as queries write it; `nil` for other
    /// operators.
    var number: Int64? {
      switch self {
      case .sameNumber: 0
      case .number(.less): 1
      case .number(.lessOrEqual): 2
      case .number(.greater): 3
      case .number(.greaterOrEqual): 4
      default: nil
      }
    }

    fileprivate init?(number: Int64) {
      let all: [StoredRelation] = [
        .sameNumber, .number(.less), .number(.lessOrEqual), .number(.greater), .number(.greaterOrEqual),
      ]
      guard let found = all.first(where: { $0.number == number }) else { return nil }
      self = found
    }
  }
#endif
