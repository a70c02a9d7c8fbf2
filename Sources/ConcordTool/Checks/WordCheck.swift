#if Tool
  import ConcordPersistence

  /// A check that an index of words has those of each row, and no further ones.
  enum WordCheck {
    static func run(_ table: SourceTable, _ source: any ToolSource, _ report: inout CheckReport) throws {
      guard let words = try source.words(of: table, examples: report.examples) else { return }
      for problem in words.problems {
        try report.problem("\(problem); to make it anew: \(words.remedy), and attach it")
      }
      if let reason = words.reason {
        try report.remark("the index of the words of \(table.name) is not compared: \(reason)")
      }
      try report.rows(
        "the index of the words of \(table.name) is not that of its texts, so that searches miss rows; "
          + "to make it anew: \(words.remedy), and attach it",
        Findings(count: words.count, examples: words.examples.map { [.value($0)] }))
    }
  }
#endif
