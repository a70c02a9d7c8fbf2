#if Tool
  import ArgumentParser
  import ConcordPersistence
  import Foundation
  import GRDB

  struct Import: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Reads rows as 'export' writes them, into a file that has their tables.",
      discussion: """
        All lines are imported, or none: after an error the file is as before. An id that is there already is an error, unless \
        --replace is given: then the row and its collections are replaced. A column that a line leaves out becomes null; a \
        stamp that is left out is older than all others. A program that has the file open sees the rows as those of any other process.
        """)

    @OptionGroup var options: FileOptions

    @Argument(help: "Where the lines are; the standard input unless told.", completion: .file())
    var input: String?

    @Flag(help: "Replace rows that are there already.")
    var replace = false

    @Flag(help: "Check every line, and change nothing.")
    var dryRun = false

    func run() throws {
      var lines = try LineReader(input)
      let counts = try ToolFile.writing(options) { _, db, schema in
        var importer = RowImporter(db, schema, replaces: replace)
        var progress = ProgressLine()
        defer { progress.end() }
        try db.inTransaction(.immediate) {
          while let line = try lines.next() {
            try Interruption.check()
            do {
              try importer.take(line)
            } catch let error as ToolError {
              throw ToolError(error.status, "line \(lines.number): \(error.message ?? "")")
            }
            progress.step { "\(grouped(lines.number)) lines" }
          }
          try Interruption.check()
          // Only who knows the model can tell which values are the same: it finds them again.
          try db.execute(sql: "DROP TABLE IF EXISTS concord_unique")
          return dryRun ? .rollback : .commit
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
