#if Persistence
  import ConcordModel
  import GRDB

  /// The table `concord_unique`: the keys of those values in unique columns whose stored form is not their key, such as a text
  /// in decomposed form or -0.0. The unique index of a column compares stored forms, and finds equal values in other forms
  /// through this table.
  ///
  /// Most files have no entries. An entry is ignored if its row has another value by now, so other programs may ignore the
  /// table. A program that writes values in such forms itself drops it; the next write, or attaching the file, makes it again.
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

    /// Makes the entries of a column.
    ///
    /// - Returns: whether no two rows have equal values in the column.
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

  /// A unique column in which equal values may have several stored forms, or a value may not equal itself.
  struct SQLiteUniqueColumn: Sendable {
    let table: String
    let name: String
    let position: Int
    let coding: ColumnCoding
    private let isReal: Bool

    init?(_ entity: EntityDescription, _ position: Int) {
      let column = entity.columns[position]
      // An id is stored as its key.
      guard column.isUnique, !column.isExact, position != entity.idPosition else { return nil }
      (table, name, self.position, coding) = (entity.name, column.name, position, column.coding)
      isReal = column.storageClass == .real
    }

    /// The terms of the column's unique index. Among numbers, blobs are the bits of NaN, which may repeat, and of -0.0.
    var indexed: String {
      let name = quoted(name)
      return isReal ? "\(name), CASE typeof(\(name)) WHEN 'blob' THEN \"id\" ELSE 0 END" : name
    }

    /// Whether the index may miss values that equal a stored one.
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
