#if Persistence
  import ConcordModel
  import GRDB

  /// The values of unique columns that are stored otherwise than most of those that equal them, as a text in decomposed form or -0.0. The
  /// index of the column compares what is stored; `concord_unique` holds, of such values alone, what all that equal them have in common.
  ///
  /// Most files have none. An entry counts only while its row has such a value, so that no other program need know of it. One that
  /// writes such values itself drops the table: it is made anew when the file is attached, or written to.
  enum SQLiteUniqueKeys {
    static func exists(_ db: Database) throws -> Bool { try db.tableExists("concord_unique") }

    static func create(_ db: Database) throws {
      try db.execute(
        sql: """
          CREATE TABLE IF NOT EXISTS concord_unique (
            "table" TEXT NOT NULL,
            "column" TEXT NOT NULL,
            "key" NOT NULL,
            owner NOT NULL,
            PRIMARY KEY ("table", "column", "key")
          ) WITHOUT ROWID
          """)
      try db.execute(
        sql: "CREATE INDEX IF NOT EXISTS \"concord_unique.owner\" ON concord_unique (\"table\", \"column\", owner)")
    }

    /// Finds the entries of a column.
    ///
    /// - Returns: whether no two values of the column are the same.
    static func fill(_ column: SQLiteUniqueColumn, _ db: Database) throws -> Bool {
      try db.execute(sql: column.forgetAll, arguments: [column.table, column.name])
      var entries: [(key: StoredValue, owner: StoredValue)] = []
      let all = SQLiteStatement(try db.makeStatement(sql: column.all))
      defer { all.reset() }
      while try all.step() {
        let value = all.value(at: 1)
        if column.isStoredApart(value), let key = column.coding.key(of: value) {
          entries.append((key, all.value(at: 0)))
        }
      }
      var isUnique = true
      for entry in entries {
        if try column.isTaken(entry.key, for: entry.owner, db) { isUnique = false }
        try column.note(entry.key, of: entry.owner, db)
      }
      return isUnique
    }
  }

  /// A unique column whose equal values may be stored differently, or one of whose values may be equal to none.
  struct SQLiteUniqueColumn: Sendable {
    let table: String
    let name: String
    let position: Int
    let coding: ColumnCoding
    private let isReal: Bool

    init?(_ entity: EntityDescription, _ position: Int) {
      let column = entity.columns[position]
      // The key, by which rows are told apart, is in the canonical form anyway.
      guard column.isUnique, !column.isExact, position != entity.idPosition else { return nil }
      (table, name, self.position, coding) = (entity.name, column.name, position, column.coding)
      isReal = column.storageClass == .real
    }

    /// What the unique index of the column has. Bytes among numbers are those of NaN, which is equal to none, and of -0.0.
    var indexed: String {
      let name = quoted(name)
      return isReal ? "\(name), CASE typeof(\(name)) WHEN 'blob' THEN \"id\" ELSE 0 END" : name
    }

    /// Whether the index does not know which others are the same as a value.
    func isStoredApart(_ value: StoredValue) -> Bool {
      if value.isNull { return false }
      if isReal, case .blob = value { return true }
      return coding.key(of: value) != value
    }

    // MARK: Looking up

    var all: String { "SELECT \"id\", \(quoted(name)) FROM \(quoted(table)) WHERE \(quoted(name)) IS NOT NULL" }
    private var same: String { "SELECT 1 FROM \(quoted(table)) WHERE \(quoted(name)) = ? AND \"id\" <> ?" }
    private var apart: String {
      """
      SELECT row.\(quoted(name)) FROM concord_unique AS apart JOIN \(quoted(table)) AS row ON row."id" = apart.owner \
      WHERE apart."table" = ? AND apart."column" = ? AND apart."key" = ? AND apart.owner <> ?
      """
    }

    /// Whether another row has a value with a key.
    func isTaken(_ key: StoredValue, for owner: StoredValue, _ db: Database) throws -> Bool {
      if try find(same, [key, owner], db, { _ in true }) == true { return true }
      return try find(apart, [.text(table), .text(name), key, owner], db) { coding.key(of: $0.value(at: 0)) == key }
        == true
    }

    @discardableResult
    private func find<R>(
      _ sql: String, _ values: [StoredValue], _ db: Database, _ body: (SQLiteStatement) -> R
    ) throws -> R? {
      let statement = SQLiteStatement(try db.cachedStatement(sql: sql))
      defer { statement.reset() }
      for (index, value) in values.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
      return try statement.step() ? body(statement) : nil
    }

    // MARK: Noting

    let forgetAll = "DELETE FROM concord_unique WHERE \"table\" = ? AND \"column\" = ?"

    func note(_ key: StoredValue, of owner: StoredValue, _ db: Database) throws {
      let sql = "INSERT OR REPLACE INTO concord_unique (\"table\", \"column\", \"key\", owner) VALUES (?, ?, ?, ?)"
      try find(sql, [.text(table), .text(name), key, owner], db) { _ in }
    }

    func forget(_ owner: StoredValue, _ db: Database) throws {
      try find("\(forgetAll) AND owner = ?", [.text(table), .text(name), owner], db) { _ in }
    }
  }
#endif
