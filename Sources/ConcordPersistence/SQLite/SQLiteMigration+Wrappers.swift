#if Persistence
  import ConcordModel
  import GRDB

  // A wrapper whose case was renamed or removed cannot be read where that case is stored, and the column of what the case held
  // would go with the old table.
  extension SQLiteMigration {
    /// The columns of wrappers that no column of the model takes, each with the columns of the cases that it stands below.
    var lostColumns: [(name: String, cases: [String])] {
      let taken = Set(table.columns.compactMap { origin(of: $0)?.name })
      let cases = table.columns.filter { table.description(of: $0.name)?.role == .wrapperCase }
      return present.compactMap { column in
        if taken.contains(column.name) { return nil }
        let above = cases.filter { name in origin(of: name).map { column.name.hasPrefix("\($0.name)_") } ?? false }
        return above.isEmpty ? nil : (column.name, above.map(\.name))
      }
    }

    /// The lost columns that have values, unless a migration makes the names of the cases.
    func lostValues(_ db: Database) throws -> [String] {
      try lostColumns.compactMap { column in
        if conversions.contains(where: { column.cases.contains($0.column) }) { return nil }
        let count =
          try Int.fetchOne(
            db, sql: "SELECT COUNT(*) FROM \(quoted(presentName)) WHERE \(quoted(column.name)) IS NOT NULL") ?? 0
        if count == 0 { return nil }
        return "\(table.name).\(column.name) is not in the model, and a case holds it in \(count.of("row"))"
      }
    }
  }
#endif
