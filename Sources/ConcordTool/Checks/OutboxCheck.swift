#if Tool
  import GRDB

  /// A check that forwarded actions can be read, and have a known state.
  enum OutboxCheck {
    static func run(_ db: Database, _ report: inout CheckReport) throws {
      guard let outbox = try FileOutbox(db) else { return }
      if outbox.isStrange { return try report.problem("concord_outbox lacks some of its columns") }
      try report.rows(
        "concord_outbox has actions that cannot be read", db,
        selecting: """
          SELECT "key", action FROM concord_outbox \
          WHERE state IN ('pending', 'refused') AND NOT json_valid(CAST(body AS TEXT))
          """)
      try report.rows(
        "concord_outbox has actions in a state that is not known", db,
        selecting: """
          SELECT "key", state FROM concord_outbox \
          WHERE state NOT IN ('pending', 'refused', 'sent', 'dropped') OR typeof(state) <> 'text'
          """)
      if outbox.refused > 0 {
        let count = outbox.refused
        let actions = count == 1 ? "action was" : "actions were"
        try report.remark("\(grouped(count)) forwarded \(actions) refused, to be retried or dropped by the program")
      }
    }
  }
#endif
