#if Persistence
  import ConcordModel
  import GRDB

  /// The feed of changes of a file: triggers write into `concord_changes` which rows are changed, whoever writes.
  ///
  /// A position is the number of the last change. Transactions of a file follow each other, so what a reading sees are all changes up
  /// to one of the numbers, and those of whole transactions.
  struct SQLiteFeed {
    let db: Database
    let entities: [EntityDescription]

    /// Makes what is missing. Changes of an entity may have been missed if its triggers were incomplete, so the feed begins anew. The
    /// triggers of entities that this model does not know stay as they are.
    func start() throws {
      let isPresent = try Self.isPresent(db)
      if !isPresent { try makeTables() }
      let stale = try entities.filter { try !isPresent || !isFollowed($0) }
      if stale.isEmpty { return }
      try db.execute(sql: "DELETE FROM concord_feed")
      // Rows as they were under an earlier schema say nothing of this one.
      try db.execute(sql: "DELETE FROM concord_changes")
      let last = try lastNumber()
      try db.execute(
        sql: "INSERT INTO concord_feed (epoch, forgotten, begun, kept) VALUES (?1, ?2, ?2, 0)",
        arguments: [Int64.random(in: 1 ... .max), last])
      for entity in stale {
        try Self.stop(entity, db)
        for trigger in Self.triggers(of: entity) { try db.execute(sql: trigger.sql) }
        try db.execute(
          sql: "INSERT OR REPLACE INTO concord_feed_columns (entity, columns) VALUES (?, ?)",
          arguments: [entity.name, Self.columns(of: entity)])
      }
    }

    /// Whether the tables of the feed are there, in the form of this program.
    private static func isPresent(_ db: Database) throws -> Bool {
      guard try db.tableExists("concord_feed"), try db.tableExists("concord_feed_columns") else { return false }
      return try db.columns(in: "concord_feed").contains { $0.name == "kept" }
    }

    private func makeTables() throws {
      try db.execute(sql: "DROP TABLE IF EXISTS concord_feed")
      try db.execute(
        sql: """
          CREATE TABLE IF NOT EXISTS concord_changes (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            entity TEXT NOT NULL,
            "key" NOT NULL,
            before TEXT,
            target TEXT,
            added
          )
          """)
      try db.execute(
        sql: "CREATE INDEX IF NOT EXISTS \"concord_changes.key\" ON concord_changes (entity, \"key\", number)")
      try db.execute(
        sql: """
          CREATE TABLE concord_feed (
            epoch INTEGER NOT NULL,
            forgotten INTEGER NOT NULL,
            begun INTEGER NOT NULL,
            kept INTEGER NOT NULL
          )
          """)
      try db.execute(
        sql: "CREATE TABLE IF NOT EXISTS concord_feed_columns (entity TEXT PRIMARY KEY, columns TEXT NOT NULL)")
    }

    /// Whether an entity has all its triggers, and no other ones.
    private func isFollowed(_ entity: EntityDescription) throws -> Bool {
      let wanted = Self.triggers(of: entity).sorted { $0.name < $1.name }
      let present = try Self.presentTriggers(of: entity, db).sorted { $0.name < $1.name }
      let columns = try String.fetchOne(
        db, sql: "SELECT columns FROM concord_feed_columns WHERE entity = ?", arguments: [entity.name])
      return columns == Self.columns(of: entity) && wanted.count == present.count
        && zip(wanted, present).allSatisfy { $0 == $1 }
    }

    private static func presentTriggers(of entity: EntityDescription, _ db: Database) throws -> [Trigger] {
      let tables = [entity.name] + entity.collections.map { SQLiteTable.tableName($0, of: entity) }
      return try tables.flatMap { table in
        try Row.fetchAll(
          db,
          sql: """
            SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE
            AND name LIKE 'concord@_feed.%' ESCAPE '@'
            """, arguments: [table]
        ).map { (name: $0["name"] ?? "", sql: $0["sql"] ?? "") }
      }
    }

    private func lastNumber() throws -> Int64 {
      try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'concord_changes'") ?? 0
    }

    /// Removes the triggers of an entity.
    ///
    /// - Returns: whether there were any.
    @discardableResult
    static func stop(_ entity: EntityDescription, _ db: Database) throws -> Bool {
      let present = try presentTriggers(of: entity, db)
      for trigger in present { try db.execute(sql: "DROP TRIGGER \(quoted(trigger.name))") }
      return !present.isEmpty
    }

    /// The columns in the order of an image.
    static func columns(of entity: EntityDescription) -> String {
      entity.columns.map { quoted($0.name) }.joined(separator: ",")
    }

    // MARK: Forgetting

    /// The number of changes that one step looks at.
    private static let batch: Int64 = 500

    /// Forgets rows as they were before old changes, some at a time. Of the changes before ``FeedLimits/changes`` the last one of each
    /// row is kept, and of those the last ``FeedLimits/rows``.
    ///
    /// - Returns: whether more is to be forgotten.
    func forget(_ limits: FeedLimits) throws -> Bool {
      guard try Self.isPresent(db) else { return false }
      let state = SQLiteStatement(try db.cachedStatement(sql: "SELECT forgotten, begun, kept FROM concord_feed"))
      defer { state.reset() }
      guard try state.step() else { return false }
      let last = try max(0, lastNumber())
      // What another program has written there is no number of a change.
      func number(_ index: Int32) -> Int64 { min(max(0, state.integer(at: index) ?? 0), last) }
      let (begin, kept) = (number(0), number(2))
      var begun = number(1)
      state.reset()
      let limit = last - Int64(max(0, limits.changes))
      // By the changes that are there: the numbers say how many only if nobody else has written them.
      let end =
        limit <= begin
        ? limit
        : try Int64.fetchOne(
          db,
          sql: "SELECT number FROM concord_changes WHERE number > ? AND number <= ? ORDER BY number LIMIT 1 OFFSET ?",
          arguments: [begin, limit, Self.batch - 1]) ?? limit
      var count = kept
      if end > begin {
        count +=
          try Int64.fetchOne(
            db, sql: "SELECT COUNT(*) FROM concord_changes WHERE number > ? AND number <= ?", arguments: [begin, end])
          ?? 0
        try db.execute(
          sql: """
            DELETE FROM concord_changes WHERE number IN (
              SELECT earlier.number FROM concord_changes AS later JOIN concord_changes AS earlier
              ON earlier.entity = later.entity AND earlier."key" = later."key" AND earlier.number < later.number
              WHERE later.number > ?1 AND later.number <= ?2)
            """, arguments: [begin, end])
        count -= Int64(db.changesCount)
      }
      let tooMany = min(count - Int64(max(0, limits.rows)), Self.batch)
      if tooMany > 0 {
        let oldest = "SELECT number FROM concord_changes WHERE number <= ?1 ORDER BY number LIMIT ?2"
        let done = max(begin, end)
        begun = try Int64.fetchOne(db, sql: "SELECT MAX(number) FROM (\(oldest))", arguments: [done, tooMany]) ?? begun
        try db.execute(sql: "DELETE FROM concord_changes WHERE number IN (\(oldest))", arguments: [done, tooMany])
        // If these were fewer, there are no more.
        count = Int64(db.changesCount) < tooMany ? 0 : count - Int64(db.changesCount)
      }
      if end <= begin, tooMany <= 0 { return false }
      try db.execute(
        sql: "UPDATE concord_feed SET forgotten = ?, begun = ?, kept = ?", arguments: [max(begin, end), begun, count])
      return end < limit || count > Int64(max(0, limits.rows))
    }

    // MARK: Triggers

    typealias Trigger = (name: String, sql: String)

    static func triggers(of entity: EntityDescription) -> [Trigger] {
      let table = quoted(entity.name)
      let name = literal(entity.name)
      func trigger(_ named: String, _ event: String, _ statements: [String], when condition: String? = nil) -> Trigger {
        let title = "concord_feed.\(entity.name).\(named)"
        let body = statements.map { "\($0);" }.joined(separator: " ")
        return (
          title,
          "CREATE TRIGGER \(quoted(title)) \(event) ON \(table)\(condition.map { " WHEN \($0)" } ?? "") BEGIN \(body) END"
        )
      }
      func change(_ key: String, _ before: String) -> String {
        "INSERT INTO concord_changes (entity, \"key\", before) VALUES (\(name), \(key), \(before))"
      }
      // REPLACE removes rows without a trigger: those with the key, and with unique values, of the new one.
      func replaced(_ condition: String) -> String {
        """
        INSERT INTO concord_changes (entity, "key", before) \
        SELECT \(name), "id", \(image(of: entity, "")) FROM \(table) WHERE \(condition)
        """
      }
      let unique = entity.columns.indices.filter { entity.columns[$0].isUnique && $0 != entity.idPosition }
        .map { quoted(entity.columns[$0].name) }
      let others = unique.map { replaced("\($0) = NEW.\($0) AND \"id\" IS NOT NEW.\"id\"") }
      let updated = (["\"id\""] + unique).joined(separator: ", ")
      let moved = (["\"id\""] + unique).map { "OLD.\($0) IS NOT NEW.\($0)" }.joined(separator: " OR ")
      return [
        trigger("replace", "BEFORE INSERT", [replaced("\"id\" = NEW.\"id\"")] + others),
        // Not before it: a key that SQLite gives is not known there.
        trigger("insert", "AFTER INSERT", [change("NEW.\"id\"", "NULL")]),
        trigger("update", "AFTER UPDATE", [change("OLD.\"id\"", image(of: entity, "OLD."))]),
        trigger("delete", "AFTER DELETE", [change("OLD.\"id\"", image(of: entity, "OLD."))]),
        trigger(
          "replaceMoved", "BEFORE UPDATE OF \(updated)",
          [replaced("\"id\" = NEW.\"id\" AND \"id\" IS NOT OLD.\"id\"")]
            + unique.map { replaced("\($0) = NEW.\($0) AND \"id\" IS NOT OLD.\"id\" AND \"id\" IS NOT NEW.\"id\"") },
          when: moved),
        trigger(
          "move", "AFTER UPDATE OF \"id\"", [change("NEW.\"id\"", "NULL")], when: "OLD.\"id\" IS NOT NEW.\"id\""),
      ] + entity.collections.flatMap { triggers(of: $0, of: entity) }
    }

    /// The mark in place of the values of a row of which only a list was changed.
    static let unchanged = "-"

    private static func triggers(of collection: CollectionDescription, of entity: EntityDescription) -> [Trigger] {
      let list = "\(entity.name)_\(collection.name)"
      let references = zip(collection.columnNames, collection.columns).compactMap { name, column in
        column.target.map { (name: name, target: $0) }
      }
      func change(_ owner: String, _ target: String, _ added: String) -> String {
        """
        INSERT INTO concord_changes (entity, "key", before, target, added) \
        SELECT \(literal(entity.name)), \(owner), \(literal(unchanged)), \(target), \(added)
        """
      }
      return ["INSERT", "UPDATE", "DELETE"].map { event in
        var changes = [change("OLD.\"_owner\"", "NULL", "NULL")]
        if event != "DELETE" {
          let added = references.map { (literal($0.target), "NEW.\(quoted($0.name))") }
          changes = (added.isEmpty ? [("NULL", "NULL")] : added).map { change("NEW.\"_owner\"", $0, $1) }
        }
        // An element may be moved to another list.
        if event == "UPDATE" {
          changes.append(change("OLD.\"_owner\"", "NULL", "NULL") + " WHERE OLD.\"_owner\" IS NOT NEW.\"_owner\"")
        }
        let title = "concord_feed.\(list).\(event.lowercased())"
        let body = changes.map { "\($0);" }.joined(separator: " ")
        return (title, "CREATE TRIGGER \(quoted(title)) AFTER \(event) ON \(quoted(list)) BEGIN \(body) END")
      }
    }

    /// An expression for the values of a row's columns, as SQL writes them.
    private static func image(of entity: EntityDescription, _ row: String) -> String {
      let keepsExactID = SQLiteTable.keepsExactID(entity)
      let values = entity.columns.indices.map { position in
        let value = SQLiteTable.resultColumn(entity, at: position, keepsExactID, of: row)
        // A text with a zero byte is cut by `quote`.
        return """
          CASE WHEN typeof(\(value)) = 'text' AND instr(CAST(\(value) AS BLOB), x'00') \
          THEN 'T' || quote(CAST(\(value) AS BLOB)) ELSE quote(\(value)) END
          """
      }
      return values.isEmpty ? "''" : values.joined(separator: " || ',' || ")
    }

    private static func literal(_ text: String) -> String { "'\(text.doubling(UInt8(ascii: "'")))'" }

    // MARK: Rows

    /// The statement that finds whether a row was changed after a number: by the index of the keys, so that it reads one entry.
    static let isChanged = "SELECT 1 FROM concord_changes WHERE entity = ? AND \"key\" = ? AND number > ? LIMIT 1"
  }
#endif
