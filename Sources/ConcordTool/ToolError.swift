#if Tool
  import ConcordPersistence
  import Foundation
  import GRDB
  import GRDBSQLite

  /// An error that ends a command, with its exit code.
  struct ToolError: Error {
    let status: ExitStatus
    /// The message; `nil` if none is to be shown.
    let message: String?
    /// The line of the input that it is about, if that is an earlier one.
    var line: Int?

    init(_ status: ExitStatus, _ message: String?) {
      self.status = status
      self.message = message
    }

    static func show(_ error: ToolError) {
      guard let message = error.message else { return }
      let mark = Terminal.error.painted("concord:", .red)
      try? FileHandle.standardError.write(contentsOf: Data("\(mark) \(printable(withoutPasswords(message)))\n".utf8))
    }

    /// Runs a closure, and translates SQLite's errors into errors about a file.
    static func translating<R>(_ path: String, _ body: () throws -> R) throws -> R {
      do {
        return try body()
      } catch let failure as SQLiteFailure {
        throw ToolError(path, code: failure.code, failure.message)
      } catch let error as DatabaseError {
        throw ToolError(path, code: error.extendedResultCode.rawValue, error.message ?? error.description)
      } catch let error as RowDecodingError {
        throw ToolError(.damaged, "\(path) is damaged: \(error)")
      }
    }

    private init(_ path: String, code: Int32, _ message: String) {
      switch code & 0xFF {
      case SQLITE_INTERRUPT: self.init(.interrupted, "interrupted")
      case SQLITE_NOTADB: self.init(.notConcord, "\(path) is no SQLite file")
      case SQLITE_CORRUPT: self.init(.damaged, "\(path) is damaged: \(message)")
      case SQLITE_BUSY, SQLITE_LOCKED:
        self.init(.locked, "\(path) is held by another process; try again, or --wait longer")
      case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH: self.init(.missing, "\(path) cannot be opened: \(message)")
      case SQLITE_READONLY: self.init(.readOnly, "\(path) cannot be written to: \(message)")
      case SQLITE_FULL: self.init(.notWritten, "the disk is full")
      case SQLITE_IOERR: self.init(.notWritten, "\(path) cannot be read or written: \(message)")
      case SQLITE_CONSTRAINT: self.init(.wrongInput, message)
      default: self.init(.failed, "\(path): \(message) (SQLite \(code))")
      }
    }
  }

  /// Returns a text in which no URL has a password.
  ///
  /// It looks at scalars: a combining mark behind a colon makes another `Character` of both.
  func withoutPasswords(_ text: String) -> String {
    let inURL = /(?i)(postgres(?:ql)?:\/\/[^\s:\/@]*):\S*@/.matchingSemantics(.unicodeScalar)
    let named = /(?i)(password\s*=\s*)(?:'[^']*'|[^\s&]*)/.matchingSemantics(.unicodeScalar)
    return text.replacing(inURL) { "\($0.1):***@" }.replacing(named) { "\($0.1)***" }
  }
#endif
