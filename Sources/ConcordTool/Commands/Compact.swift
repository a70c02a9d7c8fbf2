#if Tool
  import ArgumentParser
  import GRDB

  struct Compact: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Rewrites the file without what is free in it, and takes the log into it.",
      discussion: "No row changes. It needs as much room beside the file, for a while, as its rows take.")

    @OptionGroup var options: SourceOptions

    func run() throws {
      if options.isURL { throw ToolError(.usage, "a server's tables are compacted by its own VACUUM") }
      let (before, after) = try SQLiteFile.writing(options) { source in
        let (file, db) = (source.file, source.db)
        let before = file.size
        var progress = ProgressLine()
        defer { progress.end() }
        progress.begin("rewriting \(file.name)")
        try db.execute(sql: "VACUUM")
        // Pages that other processes still read stay in the log, which is no error: a later checkpoint takes them in.
        _ = try Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        return (before, file.size)
      }
      var output = Output()
      try output.line("\(size(before.file + before.log)) before, \(size(after.file + after.log)) after")
      try output.flush()
    }
  }
#endif
