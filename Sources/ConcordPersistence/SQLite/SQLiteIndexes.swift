#if Persistence
  import ConcordModel
  import GRDB

  /// The indexes of a model's tables, each named after its table and column.
  enum SQLiteIndexes {
    /// Makes the indexes of tables, and removes those that are not wanted any longer.
    ///
    /// - Parameters:
    ///   - carried: the tables whose values are now of another type.
    ///   - keepsUnique: whether unique indexes stay that are not wanted: a newer model may want them.
    /// - Returns: which columns are not unique.
    static func prepare(
      _ tables: [SQLiteSchema.Table], carried: Set<String>, keepsUnique: Bool, _ db: Database
    ) throws -> [String] {
      let columns = tables.filter { $0.collection == nil }.flatMap { table in
        table.entity.columns.indices.compactMap { SQLiteUniqueColumn(table.entity, $0) }
      }
      let isFilled = try SQLiteUniqueKeys.exists(db)
      if !columns.isEmpty, !isFilled { try SQLiteUniqueKeys.create(db) }
      var problems: [String] = []
      for table in tables {
        let made = try prepare(table, keepsUnique: keepsUnique, &problems, db)
        for column in columns where column.table == table.name {
          let name = name(table.name, column.name)
          guard !isFilled || made.contains(name) || carried.contains(table.name) else { continue }
          if try !SQLiteUniqueKeys.fill(column, db) { problems.append(problem(name)) }
        }
      }
      return problems
    }

    /// The unique columns that have no index. Whoever drops the index of another program's column lets equal values in.
    static func missingUnique(_ tables: [SQLiteSchema.Table], _ db: Database) throws -> [String] {
      try tables.flatMap { table in
        let wanted = wanted(table).filter { isUnique($0.value) }
        if wanted.isEmpty { return [String]() }
        let present = try present(table, db)
        return wanted.filter { present[$0.key] != $0.value }.keys.sorted()
      }
    }

    private static func isUnique(_ sql: String) -> Bool { sql.hasPrefix("CREATE UNIQUE ") }

    /// By name, the statements with which the indexes of a table were made.
    private static func present(_ table: SQLiteSchema.Table, _ db: Database) throws -> [String: String] {
      let rows = try Row.fetchAll(
        db, sql: "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? COLLATE NOCASE",
        arguments: [table.name])
      return Dictionary(rows.map { ($0.text(0), $0.text(1)) }) { first, _ in first }
    }

    private static func name(_ table: String, _ column: String) -> String { "\(table).\(column)" }
    private static func problem(_ name: String) -> String { "\(name) is to be unique, and is not" }

    /// Returns the names of the indexes that were made.
    private static func prepare(
      _ table: SQLiteSchema.Table, keepsUnique: Bool, _ problems: inout [String], _ db: Database
    ) throws -> Set<String> {
      var wanted = wanted(table)
      for (name, sql) in try present(table, db).sorted(by: { $0.key < $1.key }) {
        guard name.hasPrefix("\(table.name).") else { continue }
        if wanted[name] == sql {
          wanted[name] = nil
        } else if keepsUnique, isUnique(sql) {
          // In its place none can be made.
          wanted[name] = nil
        } else {
          try db.execute(sql: "DROP INDEX \(quoted(name))")
        }
      }
      var made: Set<String> = []
      for (name, sql) in wanted.sorted(by: { $0.key < $1.key }) {
        do {
          try db.execute(sql: sql)
          made.insert(name)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
          problems.append(problem(name))
        }
      }
      return made
    }

    /// By name, the statements that make the indexes of a table.
    private static func wanted(_ table: SQLiteSchema.Table) -> [String: String] {
      var wanted: [String: String] = [:]
      for column in table.columns {
        guard let description = table.description(of: column.name) else { continue }
        if description.isUnique || description.isIndexed || description.target != nil {
          let name = name(table.name, column.name)
          wanted[name] = """
            CREATE \(description.isUnique ? "UNIQUE " : "")INDEX \(quoted(name)) \
            ON \(quoted(table.name)) (\(indexed(column.name, table)))
            """
        }
        if description.isIndexedText {
          let name = SQLiteTexts.indexName(table.name, column.name)
          wanted[name] = """
            CREATE INDEX \(quoted(name)) \
            ON \(quoted(table.name)) (\(quoted(column.name))) WHERE \(SQLiteTexts.isNotPlain(quoted(column.name)))
            """
        }
      }
      return wanted
    }

    private static func indexed(_ column: String, _ table: SQLiteSchema.Table) -> String {
      guard table.collection == nil, let position = table.entity.columns.firstIndex(where: { $0.name == column }),
        let unique = SQLiteUniqueColumn(table.entity, position)
      else { return quoted(column) }
      return unique.indexed
    }
  }
#endif
