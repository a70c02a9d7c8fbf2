#if Persistence
  import GRDB

  extension Database {
    /// A transaction that writes, as GRDB's, but its statements are prepared once for the connection: to prepare them each time takes
    /// a third of what the save of one row takes.
    func inPreparedTransaction<R>(_ body: () throws -> R) throws -> R {
      try cachedStatement(sql: "BEGIN IMMEDIATE TRANSACTION").execute()
      do {
        let result = try body()
        try cachedStatement(sql: "COMMIT TRANSACTION").execute()
        return result
      } catch {
        // SQLite may have rolled back already. What was wrong first counts.
        try? rollback()
        throw error
      }
    }
  }
#endif
