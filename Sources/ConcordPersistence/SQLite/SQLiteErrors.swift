#if Persistence
  import ConcordModel
  import GRDB
  import GRDBSQLite

  extension StoreError {
    /// Translates errors of SQLite and GRDB to ``StoreError``. Other errors, such as those of users' code, are
    /// rethrown.
    static func translating<R>(store: String, _ body: () throws -> R) throws -> R {
      do {
        return try body()
      } catch let failure as SQLiteFailure {
        throw StoreError(code: failure.code, message: failure.message, store: store)
      } catch let error as DatabaseError {
        throw StoreError(
          code: error.extendedResultCode.rawValue, message: error.message ?? error.description, store: store)
      } catch let error as RowDecodingError {
        // What only Concord writes is something else.
        throw StoreError.damagedStore(store: store, reason: "\(error)")
      }
    }

    /// Returns the translation of an error of SQLite or GRDB; any other as it is.
    static func translation(of error: any Error, store: String) -> any Error {
      do { return try translating(store: store) { throw error } } catch { return error }
    }

    init(code: Int32, message: String, store: String) {
      switch code & 0xFF {
      case SQLITE_FULL: self = .diskFull(store: store)
      case SQLITE_BUSY, SQLITE_LOCKED: self = .locked(store: store)
      case SQLITE_CORRUPT, SQLITE_NOTADB: self = .damagedStore(store: store, reason: message)
      case SQLITE_CONSTRAINT where message.hasPrefix("UNIQUE constraint failed: "):
        self.init(notUnique: message.dropFirst("UNIQUE constraint failed: ".count))
      case SQLITE_CONSTRAINT, SQLITE_TOOBIG, SQLITE_MISMATCH: self = .refused(store: store, reason: message)
      case SQLITE_MISUSE where message.contains("closed"): self = .detached(store: store)
      default: self = .storeFailed(store: store, reason: "\(message) (SQLite \(code))")
      }
    }

    /// Creates the error from SQLite's list of columns, such as `Book.isbn, Book.edition`, or `index 'Book.price'` for an
    /// index of expressions.
    private init(notUnique columns: Substring) {
      let index = "index '"
      let columns = columns.hasPrefix(index) ? columns.dropFirst(index.count).dropLast() : columns
      let parts = columns.split(separator: ", ").map { $0.split(separator: ".") }
      self = .notUnique(
        entity: parts.first?.first.map(String.init) ?? "",
        columns: parts.compactMap { $0.last.map(String.init) }.joined(separator: ", "))
    }
  }
#endif
