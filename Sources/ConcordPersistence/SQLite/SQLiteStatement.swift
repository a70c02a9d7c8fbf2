#if Persistence
  import ConcordModel
  import Foundation
  import GRDB
  import GRDBSQLite

  // SQLite's own functions are called, because GRDB's binding and reading end text at its first NUL and turn NaN into NULL.
  // Relies on: GRDB keeps the statement alive as long as its `Statement`, and nobody else uses the connection meanwhile, which
  // holds inside of GRDB's `read` and `write`. Pointers that SQLite gives are valid until the next step; all is copied before.

  /// A prepared statement: bound, stepped and read by position.
  final class SQLiteStatement {
    private let statement: Statement
    private var handle: SQLiteStatementHandle { statement.sqliteStatement }

    typealias SQLiteStatementHandle = OpaquePointer

    init(_ statement: Statement) { self.statement = statement }

    /// Ends what was begun, so that it can be used again.
    func reset() {
      sqlite3_reset(handle)
      sqlite3_clear_bindings(handle)
    }

    // MARK: Binding

    /// Binds a value; positions count from 1.
    func bind(_ value: StoredValue, at position: Int32) throws {
      let code =
        switch value {
        case .null: sqlite3_bind_null(handle, position)
        case .integer(let value): sqlite3_bind_int64(handle, position, value)
        case .real(let value): sqlite3_bind_double(handle, position, value)
        case .text(let value): bind(value, at: position)
        case .blob(let value): bind(value, at: position)
        }
      guard code == SQLITE_OK else { throw SQLiteFailure(code: code, message: message) }
    }

    private func bind(_ text: String, at position: Int32) -> Int32 {
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

    private func bind(_ data: Data, at position: Int32) -> Int32 {
      if data.isEmpty { return sqlite3_bind_zeroblob(handle, position, 0) }
      return data.withUnsafeBytes {
        sqlite3_bind_blob64(handle, position, $0.baseAddress, UInt64($0.count), transient)
      }
    }

    /// SQLite makes a copy.
    private var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    // MARK: Stepping

    /// Goes to the next row; `false` after the last.
    func step() throws -> Bool {
      switch sqlite3_step(handle) {
      case SQLITE_ROW: return true
      case SQLITE_DONE: return false
      case let code: throw SQLiteFailure(code: extendedCode(code), message: message)
      }
    }

    /// How many rows the last statement changed.
    var changedRows: Int { Int(sqlite3_changes(sqlite3_db_handle(handle))) }

    private func extendedCode(_ code: Int32) -> Int32 {
      let extended = sqlite3_extended_errcode(sqlite3_db_handle(handle))
      return extended & 0xFF == code & 0xFF ? extended : code
    }

    private var message: String { String(cString: sqlite3_errmsg(sqlite3_db_handle(handle))) }

    // MARK: Reading

    func value(at position: Int32) -> StoredValue {
      switch sqlite3_column_type(handle, position) {
      case SQLITE_INTEGER: .integer(sqlite3_column_int64(handle, position))
      case SQLITE_FLOAT: .real(sqlite3_column_double(handle, position))
      case SQLITE_TEXT: .text(readText(at: position))
      case SQLITE_BLOB: .blob(readBlob(at: position))
      default: .null
      }
    }

    func isNull(at position: Int32) -> Bool { sqlite3_column_type(handle, position) == SQLITE_NULL }

    func integer(at position: Int32) -> Int64? {
      sqlite3_column_type(handle, position) == SQLITE_INTEGER ? sqlite3_column_int64(handle, position) : nil
    }

    func real(at position: Int32) -> Double? {
      sqlite3_column_type(handle, position) == SQLITE_FLOAT ? sqlite3_column_double(handle, position) : nil
    }

    func text(at position: Int32) -> String? {
      sqlite3_column_type(handle, position) == SQLITE_TEXT ? readText(at: position) : nil
    }

    private func readText(at position: Int32) -> String {
      guard let bytes = sqlite3_column_text(handle, position) else { return "" }
      let count = Int(sqlite3_column_bytes(handle, position))
      return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    private func readBlob(at position: Int32) -> Data {
      guard let bytes = sqlite3_column_blob(handle, position) else { return Data() }
      return Data(bytes: bytes, count: Int(sqlite3_column_bytes(handle, position)))
    }
  }

  /// A result code of SQLite's that is none of success.
  struct SQLiteFailure: Error {
    let code: Int32
    let message: String
  }
#endif
