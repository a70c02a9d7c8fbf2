#if Persistence
  import ConcordModel
  import GRDB

  // The new table, made beside the old one with all that can be carried over.
  extension SQLiteMigration {
    /// The name of the new table until the old one is gone.
    var newName: String { "concord_new_\(table.name)" }

    /// Makes the new table, with all rows, beside the old one.
    func copy(_ db: Database) throws {
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
      if converts {
        try convert(sources, to: new, names, db)
      } else {
        try copy(sources, to: new, names, db)
      }
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
            case .columnOrConversion(let name, let conversion):
              old[name].isNull ? try conversion.convert(old) : old[name]
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
