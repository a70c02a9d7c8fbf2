#if Tool
  /// A check that forwarded actions can be read, and have a known state.
  enum OutboxCheck {
    static func run(_ source: any ToolSource, _ report: inout CheckReport) throws {
      guard let outbox = try source.outbox() else { return }
      if outbox.isStrange { return try report.problem("concord_outbox lacks some of its columns") }
      let strange = try source.strangeActions(examples: report.examples)
      try report.rows("concord_outbox has actions that cannot be read", strange.unreadable)
      try report.rows("concord_outbox has actions in a state that is not known", strange.unknown)
      if outbox.refused > 0 {
        let count = outbox.refused
        let actions = count == 1 ? "action was" : "actions were"
        try report.remark("\(grouped(count)) forwarded \(actions) refused, to be retried or dropped by the program")
      }
    }
  }
#endif
