#if Persistence
  import Concord
  import ConcordModel
  import Foundation
  import GRDB

  /// The table `concord_deletions`: the stamps of deletions, by the table and the id of the deleted row, oldest first.
  ///
  /// The first deletion makes it. Programs that do not know it, such as earlier versions, read and write the file without it:
  /// what they delete is not remembered.
  enum SQLiteDeletions {
    static func create(_ db: Database) throws {
      try db.execute(
        sql: """
          CREATE TABLE IF NOT EXISTS concord_deletions (
            number INTEGER PRIMARY KEY,
            "table" TEXT NOT NULL,
            "key" NOT NULL,
            stamp REAL NOT NULL,
            date REAL NOT NULL,
            UNIQUE ("table", "key")
          )
          """)
      try db.execute(sql: "CREATE INDEX IF NOT EXISTS \"concord_deletions.stamp\" ON concord_deletions (stamp)")
    }

    /// Forgets some of the oldest deletions that are older than a time; all if that is 0.
    static func forget(after time: TimeInterval, atMost count: Int, _ db: Database) throws {
      guard time > 0 else { return try db.execute(sql: "DELETE FROM concord_deletions") }
      let now = Date().timeIntervalSinceReferenceDate
      let oldest = "number IN (SELECT number FROM concord_deletions ORDER BY number LIMIT ?1)"
      func run(_ sql: String, _ date: TimeInterval) throws {
        let statement = SQLiteStatement(try db.cachedStatement(sql: sql))
        defer { statement.reset() }
        try statement.bind(.integer(Int64(count)), at: 1)
        try statement.bind(.real(date), at: 2)
        _ = try statement.step()
      }
      // What was noted while the clock was ahead would keep all that was noted after it. Not dated anew, since it may be now that
      // the clock is wrong.
      try run(
        """
        UPDATE concord_deletions \
        SET number = (SELECT max(number) - min(number) + 1 FROM concord_deletions) + number \
        WHERE \(oldest) AND date > ?2
        """, now)
      try run("DELETE FROM concord_deletions WHERE \(oldest) AND date < ?2", now - time)
    }
  }

  extension SQLiteSession {
    func deletion(of key: EntityKey) throws -> Stamp? {
      guard try findLatestDeletion() != nil else { return nil }
      let statement = SQLiteStatement(
        try db.cachedStatement(sql: "SELECT stamp FROM concord_deletions WHERE \"table\" = ? AND \"key\" = ?"))
      defer { statement.reset() }
      try statement.bind(.text(key.entity.name), at: 1)
      try statement.bind(key.id, at: 2)
      return try statement.step() ? statement.real(at: 0) : nil
    }

    func delete(_ key: EntityKey, stamp: Stamp) throws {
      try delete(key)
      if deletionTime > 0 { try note(key, stamp) }
    }

    private func note(_ key: EntityKey, _ stamp: Stamp) throws {
      if try findLatestDeletion() == nil { try SQLiteDeletions.create(db) }
      // A later number for each deletion, so that the oldest come first.
      let sql = """
        INSERT OR REPLACE INTO concord_deletions ("table", "key", stamp, date) VALUES (?1, ?2, \
        max(?3, ifnull((SELECT stamp FROM concord_deletions WHERE "table" = ?1 AND "key" = ?2), ?3)), ?4)
        """
      let statement = SQLiteStatement(try db.cachedStatement(sql: sql))
      defer { statement.reset() }
      try statement.bind(.text(key.entity.name), at: 1)
      try statement.bind(key.id, at: 2)
      try statement.bind(.real(stamp), at: 3)
      try statement.bind(.real(Date().timeIntervalSinceReferenceDate), at: 4)
      try run(statement)
      facts.latestDeletion = .some(max(stamp, (facts.latestDeletion ?? nil) ?? stamp))
      if deletions.isMultiple(of: DeletionLimits.sweep) {
        try SQLiteDeletions.forget(after: deletionTime, atMost: DeletionLimits.swept, db)
      }
      deletions += 1
    }

    /// The latest stamp of all deletions; `nil` if there are none.
    private func findLatestDeletion() throws -> Stamp? {
      if let known = facts.latestDeletion { return known }
      var found: Stamp?
      do {
        let statement = SQLiteStatement(try db.cachedStatement(sql: "SELECT max(stamp) FROM concord_deletions"))
        defer { statement.reset() }
        if try statement.step() { found = statement.real(at: 0) }
      } catch let error as DatabaseError where error.message?.hasPrefix("no such table") == true {
      } catch let failure as SQLiteFailure where failure.message.hasPrefix("no such table") {
      }
      facts.latestDeletion = .some(found)
      return found
    }
  }
#endif
