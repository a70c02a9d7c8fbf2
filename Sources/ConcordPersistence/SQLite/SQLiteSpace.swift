#if Persistence
  import GRDB

  /// The free pages of a file, which removed rows leave.
  enum SQLiteSpace {
    /// The number of free pages that are left as they are: the next rows take them.
    private static let most = 64

    /// Takes free pages off the end of a file. A file whose pages cannot be moved is rewritten once, when a quarter of it is free.
    static func giveBack(_ db: Database, _ commits: SQLiteCommits) throws {
      guard try number("freelist_count", db) > most else { return }
      if try number("auto_vacuum", db) != 2 {
        guard try number("freelist_count", db) * 4 > number("page_count", db) else { return }
        try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
        // It is noticed as a commit of another writer, after which views read once more what they show.
        try db.execute(sql: "VACUUM")
      } else {
        // Each row that the statement gives is a page.
        _ = try db.inPreparedTransaction(commits) { _ in try Row.fetchAll(db, sql: "PRAGMA incremental_vacuum") }
      }
      // Pages that somebody still reads stay in the log: a later checkpoint takes them in. To wait for that would let nobody write meanwhile.
      let timeout = try number("busy_timeout", db)
      try db.execute(sql: "PRAGMA busy_timeout = 0")
      defer { try? db.execute(sql: "PRAGMA busy_timeout = \(timeout)") }
      _ = try Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
    }

    private static func number(_ pragma: String, _ db: Database) throws -> Int {
      try Int.fetchOne(db, sql: "PRAGMA \(pragma)") ?? 0
    }
  }
#endif
