#if Persistence
  import ConcordModel
  package import GRDB

  /// The target of each reference column, in `concord_relations`, with which a person or a program without the model
  /// follows references, or finds dangling ones.
  enum SQLiteRelations {
    private struct Relation: Hashable {
      let table: String
      let column: String
      let target: String
    }

    /// Describes the relations of the tables. It writes only where they are described otherwise.
    static func prepare(_ tables: [SQLiteSchema.Table], _ db: Database) throws {
      let wanted = Set(tables.flatMap(relations))
      let names = Set(tables.map(\.name))
      if try db.tableExists("concord_relations") {
        let present = try Row.fetchAll(db, sql: "SELECT \"table\", \"column\", target FROM concord_relations")
          .map { Relation(table: $0.text(0), column: $0.text(1), target: $0.text(2)) }
          .filter { names.contains($0.table) }
        if Set(present) == wanted { return }
      } else {
        try db.execute(
          sql: """
            CREATE TABLE concord_relations (
              "table" TEXT NOT NULL,
              "column" TEXT NOT NULL,
              target TEXT NOT NULL,
              PRIMARY KEY ("table", "column")
            ) WITHOUT ROWID
            """)
      }
      for name in names.sorted() {
        try db.execute(sql: "DELETE FROM concord_relations WHERE \"table\" = ?", arguments: [name])
      }
      for relation in wanted {
        try db.execute(
          sql: "INSERT INTO concord_relations (\"table\", \"column\", target) VALUES (?, ?, ?)",
          arguments: [relation.table, relation.column, relation.target])
      }
    }

    /// The entities that columns refer to, by the table's name in lower case and the column; `nil` if the file does not say.
    static func targets(_ db: Database) throws -> [String: [String: String]]? {
      guard try db.tableExists("concord_relations") else { return nil }
      var targets: [String: [String: String]] = [:]
      for row in try Row.fetchAll(db, sql: "SELECT \"table\", \"column\", target FROM concord_relations") {
        targets[row.text(0).lowercased(), default: [:]][row.text(1)] = row.text(2)
      }
      return targets
    }

    private static func relations(of table: SQLiteSchema.Table) -> [Relation] {
      table.columns.compactMap { column in
        table.description(of: column.name)?.target.map {
          Relation(table: table.name, column: column.name, target: $0)
        }
      }
    }
  }

  extension Row {
    /// The text of a column; empty for anything else. GRDB's subscripts trap there, and a file may hold anything.
    package func text(_ index: Int) -> String { String.fromDatabaseValue(self[index] as DatabaseValue) ?? "" }
  }
#endif
