#if Tool
  import ArgumentParser
  import ConcordPersistence

  struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Writes all rows as lines of JSON.",
      discussion: """
        The first line is {"concord":1,"tables":{…}} and names the tables and their columns. Each further line is a row: \
        {"table":"Book","row":{"id":"ACK",…}}, entities before the elements of their collections. Numbers and text are JSON's \
        own; bytes are {"$blob":base64}, a real that JSON would make whole or cannot say is {"$real":text}, text that is not \
        valid UTF-8 is {"$bytes":base64}. 'import' restores each value to the bit.

          concord export Library.sqlite > library.ndjson
          concord import Copy.sqlite library.ndjson
        """)

    @OptionGroup var options: SourceOptions

    @Argument(help: "Only these entities, each with its collections.")
    var entities: [String] = []

    func run() throws {
      try options.reading { source in
        let schema = source.schema
        for name in entities where try !schema.requiredTable(name).isEntity {
          throw ToolError(.usage, "'\(name)' is a collection, which is exported with its entity")
        }
        let tables = schema.tables.filter { entities.isEmpty || entities.contains($0.entity) }
        var output = Output()
        try output.write(head(tables))
        var progress = ProgressLine()
        defer { progress.end() }
        for table in tables.filter(\.isEntity) + tables.filter({ !$0.isEntity }) {
          try export(table, source, &output, &progress)
        }
        try output.flush()
      }
    }

    private func head(_ tables: [SourceTable]) -> [UInt8] {
      var line = JSONLine()
      line.append("{\"concord\":1,\"tables\":{")
      for (index, table) in tables.enumerated() {
        if index > 0 { line.append(",") }
        line.string(table.name)
        line.append(":[")
        for (index, column) in table.columns.enumerated() {
          if index > 0 { line.append(",") }
          line.string(column.name)
        }
        line.append("]")
      }
      line.append("}}")
      line.end()
      return line.bytes
    }

    private func export(
      _ table: SourceTable, _ source: any ToolSource, _ output: inout Output, _ progress: inout ProgressLine
    ) throws {
      let columns = table.columns
      let count = Terminal.error.isTerminal ? try source.count(table) : 0
      let names = columns.map { JSONLine.quoted($0.name) }
      var line = JSONLine()
      line.append("{\"table\":")
      line.string(table.name)
      line.append(",\"row\":")
      let start = line.bytes
      var done = 0
      try source.rows(table.everything, of: table) { cells in
        line.removeAll()
        line.object(columns.indices.map { (names[$0], cells[$0], columns[$0].storageClass) })
        line.append("}")
        line.end()
        try output.write(start)
        try output.write(line.bytes)
        done += 1
        progress.step { "\(table.name): \(grouped(done)) of \(grouped(count))" }
      }
    }
  }
#endif
