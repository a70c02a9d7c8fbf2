#if Persistence
  import ConcordModel
  import GRDB

  /// What the tables of a file have looked like, in `concord_schema`: so that an older program recognises a file that a newer one
  /// has migrated, instead of migrating it back.
  enum SQLiteHistory {
    private static func prepare(_ db: Database) throws {
      try db.execute(
        sql: """
          CREATE TABLE IF NOT EXISTS concord_schema (
            number INTEGER PRIMARY KEY,
            entity TEXT NOT NULL,
            "table" TEXT NOT NULL,
            columns TEXT NOT NULL
          )
          """)
    }

    /// Notes how a table looks from now on.
    static func add(_ table: SQLiteSchema.Table, _ db: Database) throws {
      try prepare(db)
      try db.execute(
        sql: "INSERT INTO concord_schema (entity, \"table\", columns) VALUES (?, ?, ?)",
        arguments: [table.entity.name, table.name, table.fingerprint])
    }

    /// Whether the table looked as it is wanted, before it was migrated.
    static func isOlder(_ table: SQLiteSchema.Table, _ db: Database) throws -> Bool {
      guard try db.tableExists("concord_schema") else { return false }
      let history = try String.fetchAll(
        db, sql: "SELECT columns FROM concord_schema WHERE \"table\" = ? ORDER BY number", arguments: [table.name])
      return history.dropLast().contains(table.fingerprint)
    }

    /// Drops the tables of collections that an entity no longer has.
    static func dropCollections(of entity: EntityDescription, except wanted: [String], _ db: Database) throws {
      try prepare(db)
      let known = try String.fetchAll(
        db, sql: "SELECT DISTINCT \"table\" FROM concord_schema WHERE entity = ?", arguments: [entity.name])
      for table in known where !wanted.contains(table) {
        try db.execute(sql: "DROP TABLE IF EXISTS \(quoted(table))")
      }
    }
  }
#endif
