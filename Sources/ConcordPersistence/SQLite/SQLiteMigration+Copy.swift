#if Persistence
  import ConcordModel
  import GRDB

  // The new table, made beside the old one with all that can be carried over.
  extension SQLiteMigration {
    /// The name of the new table until the old one is gone.
    var newName: String { "concord_new_\(table.name)" }

    /// Makes the new table, with all rows, beside the old one.
    ///
    /// - Returns: what keeps the values that the user's code makes from being kept. Then rows are missing.
    func copy(_ db: Database) throws -> [String] {
      let new = newName
      try db.execute(sql: "DROP TABLE IF EXISTS \(quoted(new))")
      try db.execute(sql: table.createSQL(named: new))
      let sources = table.columns.map { source(of: $0) }
      let names = table.columns.map { quoted($0.name) }.joined(separator: ", ")
      let converts = sources.contains { source in
        switch source {
        case .conversion, .columnOrConversion: true
        case .column, .columnOr, .value, .nothing: false
        }
      }
      if converts { return try convert(sources, to: new, names, db) }
      try copy(sources, to: new, names, db)
      return []
    }

    /// In one statement.
    private func copy(_ sources: [Source], to new: String, _ names: String, _ db: Database) throws {
      var values: [StoredValue] = []
      let expressions = sources.map { source in
        switch source {
        case .column(let name): return quoted(name)
        case .columnOr(let name, let value):
          values.append(value)
          return "COALESCE(\(quoted(name)), ?)"
        case .value(let value):
          values.append(value)
          return "?"
        case .columnOrConversion, .conversion, .nothing: return "NULL"
        }
      }
      let statement = SQLiteStatement(
        try db.makeStatement(
          sql: """
            INSERT INTO \(quoted(new)) (\(names)) SELECT \(expressions.joined(separator: ", ")) FROM \(quoted(presentName))
            """))
      defer { statement.reset() }
      for (index, value) in values.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
      while try statement.step() {}
    }

    /// Row by row, because the user's code makes values of them.
    private func convert(
      _ sources: [Source], to new: String, _ names: String, _ db: Database
    ) throws -> [String] {
      let columns = present.map { quoted($0.name) }.joined(separator: ", ")
      let read = SQLiteStatement(try db.makeStatement(sql: "SELECT \(columns) FROM \(quoted(presentName))"))
      let marks = sources.map { _ in "?" }.joined(separator: ", ")
      let write = SQLiteStatement(
        try db.makeStatement(sql: "INSERT INTO \(quoted(new)) (\(names)) VALUES (\(marks))"))
      defer {
        read.reset()
        write.reset()
      }
      var made = MadeValues(table, file, in: new, db)
      while try read.step() {
        var values: [String: StoredValue] = [:]
        for (index, column) in present.enumerated() { values[column.name] = read.value(at: Int32(index)) }
        let old = OldRow(values)
        for (index, source) in sources.enumerated() {
          let value: StoredValue =
            switch source {
            case .column(let name): old[name]
            case .columnOr(let name, let value): old[name].isNull ? value : old[name]
            case .columnOrConversion(let name, let conversion):
              old[name].isNull ? made.note(try conversion.convert(old), at: index) : old[name]
            case .value(let value): value
            case .conversion(let conversion): made.note(try conversion.convert(old), at: index)
            case .nothing: .null
            }
          try write.bind(value, at: Int32(index + 1))
        }
        // The others are counted, so that the error says all.
        guard made.canBeWritten else { continue }
        _ = try write.step()
        write.reset()
        try made.checkLastRow()
      }
      return made.problems
    }
  }

  /// The values that the user's code makes in a migration. A file that was left with one that cannot be read would have no way back.
  private struct MadeValues {
    private let table: SQLiteSchema.Table
    private let kept: Set<String>
    private let new: String
    private let db: Database
    /// The columns of the values that were made in this row.
    private var columns: [Int] = []
    private var missing: [Int: Int] = [:]
    private var unreadable: [Int: Int] = [:]
    private var dangling: [Int: Int] = [:]
    private var isMissing = false

    init(_ table: SQLiteSchema.Table, _ file: SQLiteMigration.FileFacts, in new: String, _ db: Database) {
      (self.table, self.new, self.db, kept) = (table, new, db, file.kept)
    }

    /// Notes a value, and returns it.
    mutating func note(_ value: StoredValue, at column: Int) -> StoredValue {
      if !value.isNull {
        columns.append(column)
      } else if table.columns[column].isRequired {
        missing[column, default: 0] += 1
        isMissing = true
      }
      return value
    }

    /// Whether the row has all values that it needs. It ends the row if not.
    var canBeWritten: Bool {
      mutating get {
        defer { if isMissing { (isMissing, columns) = (false, []) } }
        return !isMissing
      }
    }

    /// Reads what was made of the last row as it is in the file, since a column converts numbers and texts.
    mutating func checkLastRow() throws {
      defer { columns.removeAll(keepingCapacity: true) }
      for column in columns {
        let name = table.columns[column].name
        let row = try db.cachedStatement(
          sql: "SELECT \(quoted(name)) FROM \(quoted(new)) WHERE rowid = last_insert_rowid()")
        let statement = SQLiteStatement(row)
        defer { statement.reset() }
        guard try statement.step() else { continue }
        let value = statement.value(at: 0)
        if table.coding(of: name)?.canRead(value) == false { unreadable[column, default: 0] += 1 }
        // Ids to which other entities refer are not migrated, so that the target's rows are those that it will have.
        guard let target = table.description(of: name)?.target, kept.contains(target) else { continue }
        let found = SQLiteStatement(
          try db.cachedStatement(sql: "SELECT 1 FROM \(quoted(target)) WHERE \"id\" = ?"))
        defer { found.reset() }
        try found.bind(value, at: 1)
        if try !found.step() { dangling[column, default: 0] += 1 }
      }
    }

    var problems: [String] {
      table.columns.indices.flatMap { index in
        let name = "\(table.name).\(table.columns[index].name)"
        let coding = table.coding(of: table.columns[index].name)?.name ?? ""
        return [
          missing[index].map { "\(name) is required, and missing in \($0.of("row"))" },
          unreadable[index].map { "\(name) has \($0.of("value")) that cannot be read as \(coding)" },
          dangling[index].map { "\(name) leads nowhere in \($0.of("row"))" },
        ].compactMap(\.self)
      }
    }
  }
#endif
