#if Tool
  import ArgumentParser
  import ConcordPersistence
  import Foundation

  struct Import: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Reads rows as 'export' writes them, into a file or a database that has their tables.",
      discussion: """
        All lines are imported, or none: after an error the file or the database is as before. An id that is there already is an error, unless \
        --replace is given: then the row and its collections are replaced. A column that a line leaves out becomes null; a \
        stamp that is left out is older than all others. A program that has it open sees the rows as those of any other process.
        """)

    @OptionGroup var options: SourceOptions

    @Argument(help: "Where the lines are; the standard input unless told.", completion: .file())
    var input: String?

    @Flag(help: "Replace rows that are there already.")
    var replace = false

    @Flag(help: "Check every line, and change nothing.")
    var dryRun = false

    func run() throws {
      var lines = try LineReader(input)
      let counts = try options.writing { source in
        var importer = RowImporter(source.schema)
        var progress = ProgressLine()
        defer { progress.end() }
        do {
          try source.importRows(replaces: replace, commits: !dryRun) { target in
            while let line = try lines.next() {
              try Interruption.check()
              do { try importer.take(line, number: lines.number, target) } catch var error as ToolError {
                error.line = error.line ?? lines.number
                throw error
              }
              progress.step { "\(grouped(lines.number)) lines" }
            }
          }
        } catch let error as ToolError where error.line != nil && error.message != nil {
          throw ToolError(error.status, "line \(error.line ?? 0): \(error.message ?? "")")
        }
        return importer.counts
      }
      var output = Output()
      let total = counts.reduce(0) { $0 + $1.count }
      try output.line("\(dryRun ? "would import" : "imported") \(grouped(total)) \(total == 1 ? "row" : "rows")")
      for (table, count) in counts { try output.line("  \(printable(table)): \(grouped(count))") }
      try output.flush()
    }
  }
#endif
