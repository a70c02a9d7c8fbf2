#if Tool
  import ArgumentParser
  import ConcordModel
  import ConcordPersistence
  import GRDB

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Shows rows of a table.",
      discussion: """
        \(WhereCondition.grammar)

        Rows are ordered by their id, unless --sort says otherwise. Elsewhere than on a terminal, the values of a row stand \
        between tabs, without a head line if there are no columns; nothing stands for null. --json tells null from an \
        empty text, and gives each value to the bit.

          concord list Library.sqlite Book --where 'year < 1900 and title contains "x"' --sort 'year desc, title' --limit 20
          concord list Library.sqlite Book_reviews --where '_owner = "ACK"'
        """)

    @OptionGroup var options: FileOptions

    @Argument(help: "An entity, as in Book, or a collection, as in Book_reviews. 'concord info FILE' names them.")
    var table: String

    @Option(help: ArgumentHelp("Only rows that meet a condition.", valueName: "condition"))
    var `where`: String?

    @Option(help: ArgumentHelp("The order, as in 'year desc, title'.", valueName: "columns"))
    var sort: String?

    @Option(help: ArgumentHelp("Which columns, as in 'id, title'.", valueName: "columns"))
    var columns: String?

    @Option(help: ArgumentHelp("At most so many rows.", valueName: "number"))
    var limit: Int64?

    @Option(help: ArgumentHelp("Leave so many rows out at first.", valueName: "number"))
    var offset: Int64 = 0

    @Flag(help: "A JSON object on a line for each row.")
    var json = false

    func validate() throws {
      if let limit, limit < 0 { throw ValidationError("--limit takes a number from 0 on.") }
      if offset < 0 { throw ValidationError("--offset takes a number from 0 on.") }
    }

    func run() throws {
      try ToolFile.reading(options) { _, db, schema in
        let table = try schema.requiredTable(table)
        let shown = try shownColumns(table)
        let condition = try self.where.map { try WhereCondition($0, table) }
        let statement = RowStatement(
          try db.makeStatement(
            sql: """
              SELECT \(shown.map { quoted($0.name) }.joined(separator: ", ")) FROM \(quoted(table.name)) \
              \(condition.map { "WHERE \($0.sql) " } ?? "")ORDER BY \(try SortOrder.sql(sort, table)) LIMIT ? OFFSET ?
              """))
        defer { statement.reset() }
        let values = (condition?.values ?? []) + [.integer(limit ?? -1), .integer(offset)]
        for (index, value) in values.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
        if json { try writeJSON(statement, shown) } else { try writeTable(statement, shown) }
      }
    }

    /// Returns all columns but those that the store adds.
    private func shownColumns(_ table: FileTable) throws -> [FileColumn] {
      guard let columns else { return table.columns.filter { !table.isEntity || !$0.name.hasPrefix("_") } }
      return try columns.split(separator: ",", omittingEmptySubsequences: false).map { name in
        try table.requiredColumn(name.trimmingPrefix { $0 == " " }.description.trimmed)
      }
    }

    private func writeJSON(_ statement: RowStatement, _ columns: [FileColumn]) throws {
      let names = columns.map { JSONLine.quoted($0.name) }
      var output = Output()
      var line = JSONLine()
      while try statement.step() {
        line.object(
          columns.indices.map { (names[$0], Cell(statement, at: Int32($0)), columns[$0].type) })
        line.end()
        try output.write(line.bytes)
        line.removeAll()
      }
      try output.flush()
    }

    private func writeTable(_ statement: RowStatement, _ columns: [FileColumn]) throws {
      var writer = TableWriter(columns.map(\.name))
      while try statement.step() { try writer.row(columns.indices.map { Cell(statement, at: Int32($0)) }) }
      try writer.end()
    }
  }

  extension String {
    fileprivate var trimmed: String {
      var text = Substring(self)
      while text.last == " " { text.removeLast() }
      return String(text)
    }
  }
#endif
