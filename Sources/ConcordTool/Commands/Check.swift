#if Tool
  import ArgumentParser
  import ConcordPersistence

  struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Looks for damage, for references that lead nowhere, and for tables that are not as they should be.",
      discussion: """
        It checks SQLite's own structures (a server checks its own); that each table has the columns that were noted when it was made or changed; that \
        each reference leads to a row; that the elements of each collection are as many as their owner says, without gaps, \
        and have an owner; that an index of words has those of the texts; that forwarded actions can be read; in a PostgreSQL database also that no index, \
        foreign key or trigger is missing. It changes nothing. Exit code 1 says that it found something, 2 that the file is damaged.
        """)

    @OptionGroup var options: SourceOptions

    @Option(help: ArgumentHelp("How many rows are named for each problem.", valueName: "number"))
    var examples: Int = 5

    func validate() throws {
      if examples < 0 { throw ValidationError("--examples takes a number from 0 on.") }
    }

    func run() throws {
      try options.reading { source in
        let schema = source.schema
        var report = CheckReport(examples: examples)
        var progress = ProgressLine()
        progress.begin("checking the pages")
        let damage = try source.damage()
        for line in damage { try report.problem(line) }
        for table in schema.tables {
          progress.begin("checking \(table.name)")
          for difference in try source.differences(of: table) { try report.problem(difference) }
          try ReferenceCheck.run(table, source, &report)
          if table.isEntity {
            for collection in schema.collections(of: table.name) {
              try CollectionCheck.run(collection, of: table, source, &report)
            }
            try WordCheck.run(table, source, &report)
          }
        }
        try OutboxCheck.run(source, &report)
        progress.end()
        if !schema.knowsRelations {
          try report.remark("the file does not say what refers to what; it does after the program has opened it once")
        }
        if !schema.triggers.isEmpty {
          try report.remark("triggers run when it is written to, none of them Concord's: \(list(schema.triggers))")
        }
        try report.end(isDamaged: !damage.isEmpty)
      }
    }
  }
#endif
