#if Tool
  import ArgumentParser
  import ConcordPersistence

  struct Info: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Shows the tables of a file or a database, how many rows they have, and what their columns are.")

    @OptionGroup var options: SourceOptions

    func run() throws {
      try options.reading { source in
        var output = Output()
        let terminal = Terminal.output
        let schema = source.schema
        try output.line("\(terminal.painted(printable(source.name), .bold)): \(try source.sizes())")
        let counts = try count(source)
        for entity in schema.entities {
          try output.line()
          let rows = counts[entity.name] ?? 0
          let room = try source.room(of: entity).map { ", \(size($0))" } ?? ""
          try output.line(
            "\(terminal.painted(printable(entity.name), .bold)): \(grouped(rows)) \(rows == 1 ? "row" : "rows")\(room)")
          for column in entity.columns { try output.line("  " + description(of: column, in: entity, schema, counts)) }
        }
        if let outbox = try source.outbox()?.description {
          try output.line()
          try output.line("\(terminal.painted("Outbox", .bold)): \(outbox)")
        }
        if !schema.otherTables.isEmpty {
          try output.line()
          try output.line("Not Concord's: \(list(schema.otherTables.map(printable)))")
        }
        try output.flush()
      }
    }

    private func count(_ source: any ToolSource) throws -> [String: Int] {
      var progress = ProgressLine()
      defer { progress.end() }
      var counts: [String: Int] = [:]
      for table in source.schema.tables {
        progress.begin("counting \(table.name)")
        counts[table.name] = try source.count(table)
      }
      return counts
    }

    private func description(
      of column: SourceColumn, in entity: SourceTable, _ schema: SourceSchema, _ counts: [String: Int]
    ) -> String {
      let terminal = Terminal.output
      var parts = [printable(column.name)]
      parts.append(terminal.painted(column.type.isEmpty ? "any" : printable(column.type), .cyan))
      if column.isKey { parts.append("key") }
      if !column.isRequired { parts.append("optional") }
      if let index = column.index { parts.append(index == .unique ? "unique" : "indexed") }
      if let target = column.target { parts.append("→ \(printable(target))") }
      if let collection = schema.collections(of: entity.name).first(where: { $0.collection == column.name }) {
        let targets = collection.columns.compactMap(\.target)
        parts.append("→ \(grouped(counts[collection.name] ?? 0)) in \(printable(collection.name))")
        if !targets.isEmpty { parts.append("(\(list(targets.map(printable))))") }
      }
      return parts.joined(separator: " ")
    }
  }
#endif
