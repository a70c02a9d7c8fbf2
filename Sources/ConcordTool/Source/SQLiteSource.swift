#if Tool
  import ConcordPersistence
  import GRDB

  /// A file, as a command sees it within a transaction.
  struct SQLiteSource: ToolSource {
    let file: SQLiteFile
    let db: Database
    let description: SQLiteDescription

    init(_ file: SQLiteFile, _ db: Database) throws {
      (self.file, self.db) = (file, db)
      description = try SQLiteDescription(db, file: file.name)
    }

    var name: String { file.name }
    var schema: SourceSchema { description.schema }

    // MARK: Sizes

    func sizes() throws -> String {
      let sizes = file.size
      let pages = try Int64.fetchOne(db, sql: "PRAGMA page_size") ?? 0
      let free = (try Int64.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0) * pages
      var text = size(sizes.file)
      if free > 0 { text += ", of which \(size(free)) are free" }
      if sizes.log > 0 { text += "; \(size(sizes.log)) in the log beside it" }
      return text
    }

    func room(of table: SourceTable) -> Int64? { nil }

    func count(_ table: SourceTable) throws -> Int {
      try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM \(table.sql)") ?? 0
    }

    // MARK: Rows

    func rows(_ selection: RowSelection, of table: SourceTable, _ body: ([Cell]) throws -> Void) throws {
      try SQLiteSelection(selection, of: table).rows(db, body)
    }

    func explain(_ selection: RowSelection, of table: SourceTable) throws -> [String] {
      let selection = SQLiteSelection(selection, of: table)
      let lines = try selection.plan(db)
      return [selection.sql] + lines + QueryPlan(sqlite: lines, of: selection.sql).lines
    }

    func importRows(replaces: Bool, commits: Bool, _ body: (any RowTarget) throws -> Void) throws {
      try db.inTransaction(.immediate) {
        try body(SQLiteTarget(db, schema, replaces: replaces))
        try Interruption.check()
        // Only who knows the model can tell which values are the same: it finds them again.
        try db.execute(sql: "DROP TABLE IF EXISTS concord_unique")
        return commits ? .commit : .rollback
      }
    }

    // MARK: Checks

    func damage() throws -> [String] {
      try String.fetchAll(db, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
    }

    func differences(of table: SourceTable) throws -> [String] { description.differences(of: table) }

    func findings(_ sql: String, _ columns: [SourceColumn], examples: Int) throws -> Findings {
      try findings(sql, columns: columns.count, examples: examples)
    }

    private func findings(_ sql: String, columns: Int, examples: Int) throws -> Findings {
      var found = Findings(count: try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM (\(sql))") ?? 0)
      if found.count == 0 { return found }
      let statement = RowStatement(try db.makeStatement(sql: "\(sql) ORDER BY 1 LIMIT \(examples)"))
      defer { statement.reset() }
      while try statement.step() { found.examples.append((0..<columns).map { Cell(statement, at: Int32($0)) }) }
      return found
    }

    func words(of table: SourceTable, examples: Int) throws -> WordInspection? {
      try SQLiteSearchInspection(table.name, db)?.inspect(examples: examples)
    }

    func outbox() throws -> SourceOutbox? {
      let rows = try Row.fetchAll(db, sql: "PRAGMA table_info(concord_outbox)")
      let present = Set(rows.compactMap { $0["name"] as String? })
      if present.isEmpty { return nil }
      let needed: Set<String> = ["number", "key", "action", "entity", "id", "body", "state"]
      if !needed.isSubset(of: present) { return SourceOutbox(pending: 0, refused: 0, isStrange: true) }
      func count(_ state: String) throws -> Int {
        try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM concord_outbox WHERE state = ?", arguments: [state]) ?? 0
      }
      return SourceOutbox(pending: try count("pending"), refused: try count("refused"))
    }

    func strangeActions(examples: Int) throws -> (unreadable: Findings, unknown: Findings) {
      (
        try findings(
          """
          SELECT "key", action FROM concord_outbox \
          WHERE state IN ('pending', 'refused') AND NOT json_valid(CAST(body AS TEXT))
          """, columns: 2, examples: examples),
        try findings(
          """
          SELECT "key", state FROM concord_outbox \
          WHERE state NOT IN ('pending', 'refused', 'sent', 'dropped') OR typeof(state) <> 'text'
          """, columns: 2, examples: examples)
      )
    }
  }
#endif
