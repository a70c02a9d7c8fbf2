#if Persistence
  package import ConcordModel
  import Foundation
  package import GRDB
  import GRDBSQLite

  // SQLite's own functions are called, because GRDB's binding and reading end text at its first NUL and turn NaN into
  // NULL. Relies on: a handle is valid as long as its `Statement` lives, which this object retains, as callers retain
  // this object; and no other thread uses the connection meanwhile, which holds inside of GRDB's `read` and `write`.
  // Pointers from SQLite are valid until the next step; values are copied before.

  /// A prepared statement: bound, stepped and read by position.
  package final class SQLiteStatement {
    private let statement: Statement
    private let handle: OpaquePointer

    package init(_ statement: Statement) {
      self.statement = statement
      handle = statement.sqliteStatement
    }

    @inline(__always)
    private func withHandle<R>(_ body: (OpaquePointer) throws -> R) rethrows -> R { try body(handle) }

    /// Ends the execution, so that the statement can be used again.
    package func reset() {
      withHandle { handle in
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
      }
    }

    /// Whether an execution has begun, and was neither finished nor ended.
    var isBusy: Bool { withHandle { sqlite3_stmt_busy($0) != 0 } }

    // MARK: Binding

    /// Binds a value; positions count from 1.
    package func bind(_ value: StoredValue, at position: Int32) throws {
      try withHandle { handle in
        let code =
          switch value {
          case .null: sqlite3_bind_null(handle, position)
          case .integer(let value): sqlite3_bind_int64(handle, position, value)
          case .real(let value): sqlite3_bind_double(handle, position, value)
          case .text(let value): SQLiteStatement.bind(value, at: position, handle)
          case .blob(let value): SQLiteStatement.bind(value, at: position, handle)
          }
        guard code == SQLITE_OK else { throw failure(code, handle) }
      }
    }

    /// Binds text that is not valid UTF-8, as other programs may have stored it.
    package func bind(textBytes bytes: Data, at position: Int32) throws {
      try withHandle { handle in
        let code = bytes.withUnsafeBytes { bytes in
          bytes.withMemoryRebound(to: CChar.self) { characters in
            characters.baseAddress.map {
              sqlite3_bind_text64(
                handle, position, $0, UInt64(characters.count), SQLiteStatement.transient, UInt8(SQLITE_UTF8))
            } ?? sqlite3_bind_text(handle, position, "", 0, SQLiteStatement.transient)
          }
        }
        guard code == SQLITE_OK else { throw failure(code, handle) }
      }
    }

    private static func bind(_ text: String, at position: Int32, _ handle: OpaquePointer) -> Int32 {
      var text = text
      return text.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) { characters in
          // No pointer would mean NULL.
          characters.baseAddress.map {
            sqlite3_bind_text64(handle, position, $0, UInt64(characters.count), transient, UInt8(SQLITE_UTF8))
          } ?? sqlite3_bind_text(handle, position, "", 0, transient)
        }
      }
    }

    private static func bind(_ data: Data, at position: Int32, _ handle: OpaquePointer) -> Int32 {
      if data.isEmpty { return sqlite3_bind_zeroblob(handle, position, 0) }
      return data.withUnsafeBytes {
        sqlite3_bind_blob64(handle, position, $0.baseAddress, UInt64($0.count), transient)
      }
    }

    /// SQLite makes a copy. This is C's `SQLITE_TRANSIENT`, a cast that Swift does not import.
    private static var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    // MARK: Stepping

    /// Goes to the next row; `false` after the last.
    package func step() throws -> Bool {
      try withHandle { handle in
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw failure(code, handle)
        }
      }
    }

    /// The number of rows that the last statement changed.
    package var changedRows: Int { withHandle { Int(sqlite3_changes(sqlite3_db_handle($0))) } }

    private func failure(_ code: Int32, _ handle: OpaquePointer) -> SQLiteFailure {
      let connection = sqlite3_db_handle(handle)
      let extended = sqlite3_extended_errcode(connection)
      return SQLiteFailure(
        code: extended & 0xFF == code & 0xFF ? extended : code, message: String(cString: sqlite3_errmsg(connection)))
    }

    // MARK: Reading

    package func value(at position: Int32) -> StoredValue {
      withHandle { handle in
        switch sqlite3_column_type(handle, position) {
        case SQLITE_INTEGER: .integer(sqlite3_column_int64(handle, position))
        case SQLITE_FLOAT: .real(sqlite3_column_double(handle, position))
        case SQLITE_TEXT: .text(SQLiteStatement.text(at: position, handle))
        case SQLITE_BLOB: .blob(SQLiteStatement.blob(at: position, handle))
        default: .null
        }
      }
    }

    package func isNull(at position: Int32) -> Bool { withHandle { sqlite3_column_type($0, position) == SQLITE_NULL } }

    package func integer(at position: Int32) -> Int64? {
      withColumn(position) { sqlite3_value_type($0) == SQLITE_INTEGER ? sqlite3_value_int64($0) : nil }
    }

    package func real(at position: Int32) -> Double? {
      withColumn(position) { sqlite3_value_type($0) == SQLITE_FLOAT ? sqlite3_value_double($0) : nil }
    }

    package func text(at position: Int32) -> String? {
      withColumn(position) { value in
        guard sqlite3_value_type(value) == SQLITE_TEXT, let bytes = sqlite3_value_text(value) else { return nil }
        let count = Int(sqlite3_value_bytes(value))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
      }
    }

    /// Passes the bytes of a text to a closure, in which they are valid; `nil` for anything else.
    func withText<R>(at position: Int32, _ body: (UnsafeBufferPointer<UInt8>) -> R) -> R? {
      withColumn(position) { value in
        guard sqlite3_value_type(value) == SQLITE_TEXT, let bytes = sqlite3_value_text(value) else { return nil }
        return body(UnsafeBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(value))))
      }
    }

    /// Whether the value there is the same as another one, to the bit. Nothing is copied.
    package func isSame(_ value: StoredValue, at position: Int32) -> Bool {
      withColumn(position) { column in
        switch value {
        case .null: sqlite3_value_type(column) == SQLITE_NULL
        case .integer(let value):
          sqlite3_value_type(column) == SQLITE_INTEGER && sqlite3_value_int64(column) == value
        case .real(let value): sqlite3_value_type(column) == SQLITE_FLOAT && sqlite3_value_double(column) == value
        case .text(let value): SQLiteStatement.isText(column, value)
        case .blob(let value): SQLiteStatement.isBlob(column, value)
        }
      } ?? false
    }

    private static func isText(_ column: OpaquePointer, _ text: String) -> Bool {
      guard sqlite3_value_type(column) == SQLITE_TEXT, let stored = sqlite3_value_text(column) else { return false }
      var text = text
      return text.withUTF8 { isSame(stored, sqlite3_value_bytes(column), $0.baseAddress, $0.count) }
    }

    private static func isBlob(_ column: OpaquePointer, _ data: Data) -> Bool {
      guard sqlite3_value_type(column) == SQLITE_BLOB else { return false }
      let stored = sqlite3_value_blob(column)
      return data.withUnsafeBytes { isSame(stored, sqlite3_value_bytes(column), $0.baseAddress, $0.count) }
    }

    private static func isSame(
      _ a: UnsafeRawPointer?, _ aCount: Int32, _ b: UnsafeRawPointer?, _ bCount: Int
    ) -> Bool {
      guard Int(aCount) == bCount else { return false }
      guard let a, let b else { return bCount == 0 }
      return memcmp(a, b, bCount) == 0
    }

    // Asked for the column itself, SQLite takes its lock once, and not for the type, the value and the length each. The
    // result is not protected by the lock, which is not needed, since no other thread uses the connection.
    @inline(__always)
    private func withColumn<R>(_ position: Int32, _ body: (OpaquePointer) throws -> R?) rethrows -> R? {
      try withHandle { handle in try sqlite3_column_value(handle, position).flatMap(body) }
    }

    /// The bytes of text or of a blob.
    package func bytes(at position: Int32) -> Data { withHandle { SQLiteStatement.blob(at: position, $0) } }

    private static func text(at position: Int32, _ handle: OpaquePointer) -> String {
      guard let bytes = sqlite3_column_text(handle, position) else { return "" }
      let count = Int(sqlite3_column_bytes(handle, position))
      return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    private static func blob(at position: Int32, _ handle: OpaquePointer) -> Data {
      guard let bytes = sqlite3_column_blob(handle, position) else { return Data() }
      return Data(bytes: bytes, count: Int(sqlite3_column_bytes(handle, position)))
    }
  }

  extension Database {
    /// Returns a statement that the connection keeps, so that it is prepared once.
    ///
    /// A statement that a caller further out is reading, and a long one, which is one of many forms of a query, are prepared
    /// anew.
    func reusableStatement(_ sql: String) throws -> SQLiteStatement {
      if sql.utf8.count <= 2_000 {
        let statement = SQLiteStatement(try cachedStatement(sql: sql))
        if !statement.isBusy { return statement }
      }
      return SQLiteStatement(try makeStatement(sql: sql))
    }
  }

  /// A result code of SQLite other than success.
  package struct SQLiteFailure: Error {
    package let code: Int32
    package let message: String

    /// `SQLITE_CONSTRAINT_FUNCTION`, which is a macro.
    static let ofFunction = SQLITE_CONSTRAINT | 4 << 8

    var isConstraint: Bool { code & 0xFF == SQLITE_CONSTRAINT }
  }

  extension SQLiteFailure: ConditionFailure {
    var reason: String? { code == Self.ofFunction ? message : nil }
  }
#endif
