#if Tool
  import ArgumentParser
  import ConcordPersistence
  import GRDB

  struct Info: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Shows the tables of a file, how many rows they have, and what their columns are.")

    @OptionGroup var options: FileOptions

    func run() throws {
      try ToolFile.reading(options) { file, db, schema in
        var output = Output()
        let terminal = Terminal.output
        let sizes = file.size
        let pages = try Int64.fetchOne(db, sql: "PRAGMA page_size") ?? 0
        let free = (try Int64.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0) * pages
        var line = "\(terminal.painted(printable(file.name), .bold)): \(size(sizes.file))"
        if free > 0 { line += ", of which \(size(free)) are free" }
        if sizes.log > 0 { line += "; \(size(sizes.log)) in the log beside it" }
        try output.line(line)
        let counts = try count(schema.tables, db)
        for entity in schema.entities {
          try output.line()
          let rows = counts[entity.name] ?? 0
          try output.line(
            "\(terminal.painted(printable(entity.name), .bold)): \(grouped(rows)) \(rows == 1 ? "row" : "rows")")
          for column in entity.columns { try output.line("  " + description(of: column, in: entity, schema, counts)) }
        }
        if let outbox = try FileOutbox(db)?.description {
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

    private func count(_ tables: [FileTable], _ db: Database) throws -> [String: Int] {
      var progress = ProgressLine()
      defer { progress.end() }
      var counts: [String: Int] = [:]
      for table in tables {
        progress.begin("counting \(table.name)")
        counts[table.name] = try table.count(db)
      }
      return counts
    }

    private func description(
      of column: FileColumn, in entity: FileTable, _ schema: FileSchema, _ counts: [String: Int]
    ) -> String {
      let terminal = Terminal.output
      var parts = [printable(column.name)]
      parts.append(terminal.painted(column.type.isEmpty ? "any" : printable(column.type), .cyan))
      if column.isKey { parts.append("key") }
      if !column.isRequired { parts.append("optional") }
      if let index = entity.indexes.first(where: { $0.columns == [column.name] }) {
        parts.append(index.isUnique ? "unique" : "indexed")
      }
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
