#if Tool
  import ConcordPersistence
  import GRDB

  /// The problems that a check finds, printed as they are found.
  struct CheckReport {
    let examples: Int
    private var output = Output()
    private var problems = 0

    init(examples: Int) { self.examples = examples }

    mutating func problem(_ text: String) throws {
      problems += 1
      try output.line("\(Terminal.output.painted("✗", .red)) \(printable(text))")
    }

    mutating func remark(_ text: String) throws {
      try output.line("\(Terminal.output.painted("–", .yellow)) \(printable(text))")
    }

    /// Reports a problem of several rows, some of which are named.
    ///
    /// - Parameter condition: SQL that selects the rows by their keys.
    mutating func rows(_ description: String, _ db: Database, selecting sql: String) throws {
      let count = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM (\(sql))") ?? 0
      if count == 0 { return }
      try problem("\(description): \(grouped(count)) \(count == 1 ? "row" : "rows")")
      let statement = RowStatement(try db.makeStatement(sql: "\(sql) LIMIT \(examples)"))
      defer { statement.reset() }
      while try statement.step() {
        let parts = [Cell(statement, at: 0), Cell(statement, at: 1)].filter { !$0.isNull }
        try output.line("    \(printable(parts.map(\.description).joined(separator: " → ")))")
      }
      if count > examples, examples > 0 { try output.line("    and \(grouped(count - examples)) more") }
    }

    mutating func end(isDamaged: Bool) throws {
      if problems == 0 { try output.line("\(Terminal.output.painted("✓", .green)) nothing found") }
      try output.flush()
      if isDamaged { throw ToolError(.damaged, nil) }
      if problems > 0 { throw ToolError(.findings, nil) }
    }
  }
#endif
