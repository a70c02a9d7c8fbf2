#if Tool
  import ArgumentParser
  import ConcordPersistence

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

    @OptionGroup var options: SourceOptions

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

    @Flag(
      help:
        "Instead of rows the statement, and how SQLite or the server goes about it: which indexes it searches, what it sorts."
    )
    var explain = false

    func validate() throws {
      if let limit, limit < 0 { throw ValidationError("--limit takes a number from 0 on.") }
      if offset < 0 { throw ValidationError("--offset takes a number from 0 on.") }
    }

    func run() throws {
      try options.reading { source in
        let table = try source.schema.requiredTable(table)
        let selection = RowSelection(
          columns: try shownColumns(table), condition: try self.where.map { try WhereCondition($0, table).condition },
          order: try SortOrder.columns(sort, table), limit: limit, offset: offset)
        if explain { return try writePlan(source.explain(selection, of: table)) }
        if json { try writeJSON(selection, table, source) } else { try writeTable(selection, table, source) }
      }
    }

    private func shownColumns(_ table: SourceTable) throws -> [Int] {
      guard let columns else {
        return table.columns.indices.filter { !table.isEntity || !table.columns[$0].name.hasPrefix("_") }
      }
      return try columns.split(separator: ",", omittingEmptySubsequences: false).map { name in
        try table.requiredColumn(name.trimmingPrefix { $0 == " " }.description.trimmed)
      }
    }

    private func writeJSON(_ selection: RowSelection, _ table: SourceTable, _ source: any ToolSource) throws {
      let columns = selection.columns.map { table.columns[$0] }
      let names = columns.map { JSONLine.quoted($0.name) }
      var output = Output()
      var line = JSONLine()
      try source.rows(selection, of: table) { cells in
        line.object(columns.indices.map { (names[$0], cells[$0], columns[$0].storageClass) })
        line.end()
        try output.write(line.bytes)
        line.removeAll()
      }
      try output.flush()
    }

    private func writePlan(_ lines: [String]) throws {
      var writer = TableWriter(["plan"])
      for line in lines { try writer.row([Cell.value(.text(line))]) }
      try writer.end()
    }

    private func writeTable(_ selection: RowSelection, _ table: SourceTable, _ source: any ToolSource) throws {
      var writer = TableWriter(selection.columns.map { table.columns[$0].name })
      try source.rows(selection, of: table) { try writer.row($0) }
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
