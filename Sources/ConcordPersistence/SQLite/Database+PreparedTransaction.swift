#if Persistence
  import GRDB

  extension Database {
    /// A transaction that writes, as GRDB's, but its statements are prepared once for the connection: to prepare them each time takes
    /// a third of what the save of one row takes.
    func inPreparedTransaction<R>(_ body: () throws -> R) throws -> R {
      try inPreparedTransaction(beginning: "BEGIN IMMEDIATE TRANSACTION", body)
    }

    /// Runs a closure in a reading transaction, with prepared statements.
    func inPreparedReading<R>(_ body: () throws -> R) throws -> R {
      try inPreparedTransaction(beginning: "BEGIN DEFERRED TRANSACTION", body)
    }

    private func inPreparedTransaction<R>(beginning begin: String, _ body: () throws -> R) throws -> R {
      try cachedStatement(sql: begin).execute()
      do {
        let result = try body()
        try cachedStatement(sql: "COMMIT TRANSACTION").execute()
        return result
      } catch {
        // SQLite may have rolled back already. The first error is thrown.
        try? rollback()
        throw error
      }
    }
  }
#endif
