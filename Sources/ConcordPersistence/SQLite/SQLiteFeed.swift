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

    /// The number of changes that are kept one by one. Of earlier ones the last of each row is kept.
    static let remembered: Int64 = 100_000

    /// Makes what is missing. Changes may have been missed if it was incomplete, so the feed begins anew.
    func start() throws {
      let wanted = entities.flatMap(Self.triggers).sorted { $0.name < $1.name }
      let present = try Row.fetchAll(
        db, sql: "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'concord@_feed.%' ESCAPE '@'"
      ).map { (name: $0["name"] as String, sql: $0["sql"] as String) }.sorted { $0.name < $1.name }
      let isComplete = wanted.count == present.count && zip(wanted, present).allSatisfy { $0 == $1 }
      if isComplete, try db.tableExists("concord_feed") { return try forget() }
      try Self.stop(db)
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
        sql: "CREATE TABLE IF NOT EXISTS concord_feed (epoch INTEGER NOT NULL, forgotten INTEGER NOT NULL)")
      try db.execute(sql: "DELETE FROM concord_feed")
      // Rows as they were under an earlier schema say nothing of this one.
      try db.execute(sql: "DELETE FROM concord_changes")
      try db.execute(
        sql: "INSERT INTO concord_feed (epoch, forgotten) VALUES (?, ?)",
        arguments: [Int64.random(in: 1 ... .max), try lastNumber()])
      for trigger in wanted { try db.execute(sql: trigger.sql) }
    }

    private func lastNumber() throws -> Int64 {
      try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'concord_changes'") ?? 0
    }

    /// Removes the triggers.
    static func stop(_ db: Database) throws {
      let names = try String.fetchAll(
        db, sql: "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'concord@_feed.%' ESCAPE '@'")
      for name in names { try db.execute(sql: "DROP TRIGGER \(quoted(name))") }
    }

    /// Forgets the rows as they were before old changes.
    private func forget() throws {
      let limit = try lastNumber() - Self.remembered
      guard limit > 0 else { return }
      try db.execute(
        sql: """
          DELETE FROM concord_changes WHERE number <= ?1 AND EXISTS (
            SELECT 1 FROM concord_changes AS later WHERE later.entity = concord_changes.entity
            AND later."key" = concord_changes."key" AND later.number > concord_changes.number)
          """, arguments: [limit])
      try db.execute(sql: "UPDATE concord_feed SET forgotten = MAX(forgotten, ?)", arguments: [limit])
    }

    // MARK: Triggers

    typealias Trigger = (name: String, sql: String)

    static func triggers(of entity: EntityDescription) -> [Trigger] {
      let table = quoted(entity.name)
      let name = literal(entity.name)
      func trigger(_ event: String, _ key: String, _ before: String, _ named: String) -> Trigger {
        let title = "concord_feed.\(entity.name).\(named)"
        let sql = """
          CREATE TRIGGER \(quoted(title)) \(event) ON \(table) BEGIN \
          INSERT INTO concord_changes (entity, "key", before) VALUES (\(name), \(key), \(before)); END
          """
        return (title, sql)
      }
      // Before an insertion there may be a row, which REPLACE removes without a trigger.
      let stored = "(SELECT \(image(of: entity, "")) FROM \(table) WHERE \"id\" = NEW.\"id\")"
      var triggers = [
        trigger("BEFORE INSERT", "NEW.\"id\"", stored, "insert"),
        trigger("AFTER UPDATE", "OLD.\"id\"", image(of: entity, "OLD."), "update"),
        trigger("AFTER DELETE", "OLD.\"id\"", image(of: entity, "OLD."), "delete"),
      ]
      let moved = trigger("AFTER UPDATE OF \"id\"", "NEW.\"id\"", "NULL", "move")
      triggers.append(
        (moved.name, moved.sql.replacing(" BEGIN INSERT", with: " WHEN OLD.\"id\" IS NOT NEW.\"id\" BEGIN INSERT")))
      for collection in entity.collections { triggers += self.triggers(of: collection, of: entity) }
      return triggers
    }

    private static func triggers(of collection: CollectionDescription, of entity: EntityDescription) -> [Trigger] {
      let list = "\(entity.name)_\(collection.name)"
      let references = zip(collection.columnNames, collection.columns).compactMap { name, column in
        column.target.map { (name: name, target: $0) }
      }
      return ["INSERT", "UPDATE", "DELETE"].map { event in
        let row = event == "DELETE" ? "OLD" : "NEW"
        let owner = "\(row).\"_owner\""
        let before =
          "(SELECT \(image(of: entity, "")) FROM \(quoted(entity.name)) WHERE \"id\" = \(owner))"
        let added =
          event == "DELETE" || references.isEmpty
          ? [("NULL", "NULL")] : references.map { (literal($0.target), "NEW.\(quoted($0.name))") }
        let inserts = added.map { target, key in
          """
          INSERT INTO concord_changes (entity, "key", before, target, added) \
          VALUES (\(literal(entity.name)), \(owner), \(before), \(target), \(key));
          """
        }
        let title = "concord_feed.\(list).\(event.lowercased())"
        let sql = """
          CREATE TRIGGER \(quoted(title)) AFTER \(event) ON \(quoted(list)) BEGIN \(inserts.joined(separator: " ")) END
          """
        return (title, sql)
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

    private static func literal(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }
  }

  extension SQLiteSession {
    func startFeed() throws { try SQLiteFeed(db: db, entities: Array(tables.keys)).start() }

    func position() throws -> StorePosition {
      let (epoch, number, _) = try feedState()
      return StorePosition(rawValue: "\(epoch).\(number)")
    }

    func changes(since position: StorePosition) throws -> RowChanges? {
      let (epoch, last, forgotten) = try feedState()
      let parts = position.rawValue.split(separator: ".")
      guard parts.count == 2, parts[0] == "\(epoch)", let number = Int64(parts[1]), number <= last, number >= 0 else {
        return nil
      }
      let entities = Dictionary(tables.keys.map { ($0.name, $0) }) { first, _ in first }
      let statement = SQLiteStatement(
        try db.cachedStatement(
          sql: "SELECT entity, \"key\", before, target, added FROM concord_changes WHERE number > ? ORDER BY number"))
      defer { statement.reset() }
      try statement.bind(.integer(number), at: 1)
      var changes: [RowChange] = []
      while try statement.step() {
        // Entities that other programs keep in the file are not told.
        guard let name = statement.text(at: 0), let entity = entities[name] else { continue }
        var change = RowChange(
          key: EntityKey(entity, statement.value(at: 1)), before: try statement.text(at: 2).map(SQLImage.values))
        if let target = statement.text(at: 3), !statement.isNull(at: 4), let entity = entities[target] {
          change.added = [EntityKey(entity, statement.value(at: 4))]
        }
        changes.append(change)
      }
      return RowChanges(merging: changes, hasBefore: number >= forgotten)
    }

    private func feedState() throws -> (epoch: Int64, number: Int64, forgotten: Int64) {
      guard try db.tableExists("concord_feed") else { throw StoreError.withoutFeed("SQLite") }
      let statement = SQLiteStatement(
        try db.cachedStatement(
          sql: """
            SELECT epoch, (SELECT seq FROM sqlite_sequence WHERE name = 'concord_changes'), forgotten FROM concord_feed
            """))
      defer { statement.reset() }
      guard try statement.step(), let epoch = statement.integer(at: 0) else { throw StoreError.withoutFeed("SQLite") }
      return (epoch, statement.integer(at: 1) ?? 0, statement.integer(at: 2) ?? 0)
    }
  }
#endif
