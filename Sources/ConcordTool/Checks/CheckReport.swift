#if Tool
  import ConcordPersistence

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
    mutating func rows(_ description: String, _ found: Findings) throws {
      let count = found.count
      if count == 0 { return }
      try problem("\(description): \(grouped(count)) \(count == 1 ? "row" : "rows")")
      for row in found.examples {
        let parts = row.filter { !$0.isNull }.map(\.description)
        try output.line("    \(printable(parts.joined(separator: " → ")))")
      }
      if count > examples, examples > 0 { try output.line("    and \(grouped(count - examples)) more") }
    }

    /// Reports the rows that a statement selects.
    ///
    /// - Parameters:
    ///   - source: where the rows are.
    ///   - columns: the columns that the statement gives.
    mutating func rows(
      _ description: String, _ source: any ToolSource, _ columns: [SourceColumn], selecting sql: String
    ) throws {
      try rows(description, source.findings(sql, columns, examples: examples))
    }

    mutating func end(isDamaged: Bool) throws {
      if problems == 0 { try output.line("\(Terminal.output.painted("✓", .green)) nothing found") }
      try output.flush()
      if isDamaged { throw ToolError(.damaged, nil) }
      if problems > 0 { throw ToolError(.findings, nil) }
    }
  }
#endif
