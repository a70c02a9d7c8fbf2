#if Persistence
  import ConcordModel
  import GRDB

  /// Makes a table look as the model wants it: a new table takes what can be carried over, and replaces the old one.
  struct SQLiteMigration {
    let table: SQLiteSchema.Table
    let present: [SQLiteSchema.Column]
    /// What the table is called in the file.
    let presentName: String
    let conversions: [ColumnMigration]

    /// Where the values of a column come from.
    private enum Source {
      case column(String)
      /// Where the column is `NULL`, this.
      case columnOr(String, StoredValue)
      case value(StoredValue)
      case conversion(ColumnMigration)
      case nothing(String)
    }

    private func presentColumn(_ name: String) -> SQLiteSchema.Column? { present.first { $0.name == name } }

    /// The column that becomes this one.
    private func origin(of column: SQLiteSchema.Column) -> SQLiteSchema.Column? {
      if let same = presentColumn(column.name) { return same }
      if presentName != table.name {
        // The columns of a collection are named after it.
        guard present.count == table.columns.count, let position = table.columns.firstIndex(of: column) else {
          return nil
        }
        return present[position]
      }
      guard let original = table.description(of: column.name)?.originalName, original != column.name,
        // Unless another column has that name now.
        !table.columns.contains(where: { $0.name == original })
      else { return nil }
      return presentColumn(original)
    }

    private func source(of column: SQLiteSchema.Column) -> Source {
      // A column that is there as it is wanted was converted by an earlier migration, and a second one would garble it.
      if presentColumn(column.name) != column, let conversion = conversions.first(where: { $0.column == column.name }) {
        return .conversion(conversion)
      }
      let description = table.description(of: column.name)
      let defaultValue = description?.defaultValue
      guard let origin = origin(of: column) else {
        if let defaultValue, !(defaultValue.isNull && column.isRequired) { return .value(defaultValue) }
        if !column.isRequired { return .value(.null) }
        if description?.role == .count { return .value(.integer(0)) }
        if column.name == "_stamp" { return .value(.real(-.infinity)) }
        return .nothing("\(table.name).\(column.name) is missing, and has no default")
      }
      if origin.type != column.type || origin.isKey != column.isKey {
        return .nothing(
          "\(table.name).\(column.name) is \(origin.type.isEmpty ? "any" : origin.type), "
            + "not \(column.type.isEmpty ? "any" : column.type)")
      }
      if origin.isRequired || !column.isRequired { return .column(origin.name) }
      if let defaultValue, !defaultValue.isNull { return .columnOr(origin.name, defaultValue) }
      if description?.role == .count { return .columnOr(origin.name, .integer(0)) }
      return .column(origin.name)
    }

    /// What cannot be migrated.
    func problems(_ db: Database) throws -> [String] {
      try table.columns.compactMap { column in
        switch source(of: column) {
        case .nothing(let problem): return problem
        case .column(let name) where column.isRequired && presentColumn(name)?.isRequired == false:
          let count =
            try Int.fetchOne(
              db, sql: "SELECT COUNT(*) FROM \(quoted(presentName)) WHERE \(quoted(name)) IS NULL") ?? 0
          return count == 0 ? nil : "\(table.name).\(column.name) is required, and missing in \(count) rows"
        default: return nil
        }
      }
    }

    /// All that differs.
    var allDifferences: [String] {
      var differences = present.map(\.name).filter { name in !table.columns.contains { $0.name == name } }.sorted()
        .map { "\(table.name).\($0) is not in the model" }
      for column in table.columns {
        guard let there = presentColumn(column.name) else {
          differences.append("\(table.name).\(column.name) is missing")
          continue
        }
        if there.type != column.type {
          differences.append(
            "\(table.name).\(column.name) is \(there.type.isEmpty ? "any" : there.type), "
              + "not \(column.type.isEmpty ? "any" : column.type)")
        } else if there.isRequired != column.isRequired {
          differences.append(
            "\(table.name).\(column.name) is \(there.isRequired ? "required" : "optional") in the file")
        }
      }
      return differences
    }

    func run(_ db: Database) throws {
      let new = "concord_new_\(table.name)"
      try db.execute(sql: "DROP TABLE IF EXISTS \(quoted(new))")
      try db.execute(sql: table.createSQL(named: new))
      let sources = table.columns.map { source(of: $0) }
      let names = table.columns.map { quoted($0.name) }.joined(separator: ", ")
      if sources.contains(where: { if case .conversion = $0 { true } else { false } }) {
        try convert(sources, to: new, names, db)
      } else {
        try copy(sources, to: new, names, db)
      }
      try db.execute(sql: "DROP TABLE \(quoted(presentName))")
      try db.execute(sql: "ALTER TABLE \(quoted(new)) RENAME TO \(quoted(table.name))")
      try SQLiteHistory.add(table, db)
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
        case .conversion, .nothing: return "NULL"
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
    private func convert(_ sources: [Source], to new: String, _ names: String, _ db: Database) throws {
      let columns = present.map { quoted($0.name) }.joined(separator: ", ")
      let read = SQLiteStatement(try db.makeStatement(sql: "SELECT \(columns) FROM \(quoted(presentName))"))
      let marks = sources.map { _ in "?" }.joined(separator: ", ")
      let write = SQLiteStatement(
        try db.makeStatement(sql: "INSERT INTO \(quoted(new)) (\(names)) VALUES (\(marks))"))
      defer {
        read.reset()
        write.reset()
      }
      while try read.step() {
        var values: [String: StoredValue] = [:]
        for (index, column) in present.enumerated() { values[column.name] = read.value(at: Int32(index)) }
        let old = OldRow(values)
        for (index, source) in sources.enumerated() {
          let value: StoredValue =
            switch source {
            case .column(let name): old[name]
            case .columnOr(let name, let value): old[name].isNull ? value : old[name]
            case .value(let value): value
            case .conversion(let conversion): try conversion.convert(old)
            case .nothing: .null
            }
          try write.bind(value, at: Int32(index + 1))
        }
        _ = try write.step()
        write.reset()
      }
    }
  }
#endif
