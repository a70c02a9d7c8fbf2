#if Persistence
  import Foundation
  import GRDB
  import GRDBSQLite

  extension Database {
    /// A transaction that writes, as GRDB's, but its statements are prepared once for the connection: to prepare them each time takes
    /// a third of what the save of one row takes.
    ///
    /// - Parameters:
    ///   - wait: how it waits for other writers of the file, if not as the connection does.
    ///   - body: receives the number of noticed commits of other writers.
    func inPreparedTransaction<R>(
      _ commits: SQLiteCommits, waiting wait: BriefWait? = nil, _ body: (Int) throws -> R
    ) throws -> R {
      try inPreparedTransaction(
        beginning: "BEGIN IMMEDIATE TRANSACTION", waiting: wait, commit: { try commits.commit(self, $0) }
      ) {
        try body(commits.begin())
      }
    }

    /// Runs a closure in a reading transaction, with prepared statements.
    func inPreparedReading<R>(_ body: () throws -> R) throws -> R {
      try inPreparedTransaction(beginning: "BEGIN DEFERRED TRANSACTION", commit: { try $0() }, body)
    }

    private func inPreparedTransaction<R>(
      beginning statement: String, waiting wait: BriefWait? = nil, commit: (() throws -> Void) throws -> Void,
      _ body: () throws -> R
    ) throws -> R {
      if let wait {
        try begin(statement, waiting: wait)
      } else {
        try cachedStatement(sql: statement).execute()
      }
      do {
        let result = try body()
        try commit { try cachedStatement(sql: "COMMIT TRANSACTION").execute() }
        return result
      } catch {
        // SQLite may have rolled back already. The first error is thrown.
        try? rollback()
        throw error
      }
    }

    private func begin(_ statement: String, waiting wait: BriefWait) throws {
      let usual = Int32(clamping: Int(wait.patience * 1_000))
      sqlite3_busy_timeout(sqliteConnection, min(Int32(StoreIsTaken.wait * 1_000), usual))
      defer { sqlite3_busy_timeout(sqliteConnection, usual) }
      do { try cachedStatement(sql: statement).execute() } catch let error as DatabaseError
        where error.resultCode == .SQLITE_BUSY
      {
        throw StoreIsTaken(store: wait.store, patience: wait.patience)
      }
    }
  }

  /// A wait for other processes that is shorter than the one of the connection.
  struct BriefWait {
    let store: String
    /// The seconds for which the connection waits.
    let patience: TimeInterval
  }
#endif
