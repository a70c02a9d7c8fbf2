#if Persistence
  import ConcordModel
  import GRDB

  /// Forwarded actions in a file: `concord_outbox`, and `concord_outbox_state` with its version.
  ///
  /// Finished rows stay for a while, without their content, so that readers fetch only new rows.
  extension SQLiteSession {
    func outbox(after known: OutboxVersion?) throws -> OutboxChanges {
      guard let (version, forgotten, cleared) = try outboxState() else {
        return OutboxChanges(isWhole: known != .empty)
      }
      let isWhole = known.map { !$0.isFollowed(by: version, forgotten: forgotten) } ?? true
      if !isWhole, known == version { return OutboxChanges(version: version, isWhole: false) }
      let condition = isWhole ? "state IN ('pending', 'refused')" : "version > ?"
      let statement = SQLiteStatement(
        try db.cachedStatement(
          // The sign keeps SQLite from going through the whole table, because it has that order.
          sql: "SELECT \(Self.outboxColumns) FROM concord_outbox WHERE \(condition) ORDER BY +number"))
      defer { statement.reset() }
      if !isWhole { try statement.bind(.integer(known?.number ?? 0), at: 1) }
      var rows: [OutboxRow] = []
      while try statement.step() { rows.append(Self.outboxRow(statement)) }
      return OutboxChanges(
        version: version, rows: rows, isWhole: isWhole,
        wasCleared: known.map { $0.epoch == version.epoch && $0.number < cleared } ?? false)
    }

    func outboxRow(_ number: Int64) throws -> OutboxRow? {
      guard try outboxState() != nil else { return nil }
      let statement = SQLiteStatement(
        try db.cachedStatement(sql: "SELECT \(Self.outboxColumns) FROM concord_outbox WHERE number = ?"))
      defer { statement.reset() }
      try statement.bind(.integer(number), at: 1)
      return try statement.step() ? Self.outboxRow(statement) : nil
    }

    func writeOutbox(_ row: OutboxRow) throws -> OutboxRow {
      let next = try advanceOutbox()
      var row = row
      if row.number == 0 { row.number = next }
      let statement = SQLiteStatement(
        try db.cachedStatement(
          sql: """
            INSERT OR REPLACE INTO concord_outbox (\(Self.outboxColumns), version)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        ))
      defer { statement.reset() }
      let values: [StoredValue] = [
        .integer(row.number), .text(row.key), .text(row.action), .text(row.entity), row.id, .text(row.body),
        .text(row.state.rawValue), row.reason.map { .text($0) } ?? .null, .real(row.forwarded), .integer(next),
      ]
      for (position, value) in values.enumerated() { try statement.bind(value, at: Int32(position + 1)) }
      _ = try statement.step()
      if next.isMultiple(of: OutboxLimits.sweep) { try forgetOutbox(before: next - OutboxLimits.remembered) }
      return row
    }

    func clearOutbox() throws {
      guard try outboxState() != nil else { return }
      let next = try advanceOutbox()
      try db.execute(sql: "DELETE FROM concord_outbox")
      try db.execute(sql: "UPDATE concord_outbox_state SET forgotten = ?, cleared = ?", arguments: [next, next])
    }

    private static let outboxColumns = "number, \"key\", action, entity, id, body, state, reason, forwarded"

    private static func outboxRow(_ statement: SQLiteStatement) -> OutboxRow {
      var row = OutboxRow(
        key: statement.text(at: 1) ?? "", action: statement.text(at: 2) ?? "", entity: statement.text(at: 3) ?? "",
        id: statement.value(at: 4), body: statement.text(at: 5) ?? "", forwarded: statement.real(at: 8) ?? 0)
      row.number = statement.integer(at: 0) ?? 0
      // What a newer program may have written is left alone.
      row.state = statement.text(at: 6).flatMap(OutboxRow.State.init) ?? .dropped
      row.reason = statement.text(at: 7)
      return row
    }

    /// `nil` if the tables are not there yet. Another process may make them at any time.
    private func outboxState() throws -> (version: OutboxVersion, forgotten: Int64, cleared: Int64)? {
      let present = SQLiteStatement(
        try db.cachedStatement(sql: "SELECT 1 FROM sqlite_master WHERE name = 'concord_outbox_state'"))
      defer { present.reset() }
      guard try present.step() else { return nil }
      let statement = SQLiteStatement(
        try db.cachedStatement(sql: "SELECT epoch, version, forgotten, cleared FROM concord_outbox_state"))
      defer { statement.reset() }
      guard try statement.step() else { return nil }
      let version = OutboxVersion(epoch: statement.integer(at: 0) ?? 0, number: statement.integer(at: 1) ?? 0)
      return (version, statement.integer(at: 2) ?? 0, statement.integer(at: 3) ?? 0)
    }

    private func advanceOutbox() throws -> Int64 {
      if let version = try outboxState()?.version {
        let statement = SQLiteStatement(try db.cachedStatement(sql: "UPDATE concord_outbox_state SET version = ?"))
        defer { statement.reset() }
        try statement.bind(.integer(version.number + 1), at: 1)
        _ = try statement.step()
        return version.number + 1
      }
      try makeOutbox()
      return 1
    }

    private func makeOutbox() throws {
      try db.execute(
        sql: """
          CREATE TABLE IF NOT EXISTS concord_outbox (
            number INTEGER PRIMARY KEY,
            "key" TEXT NOT NULL UNIQUE,
            action TEXT NOT NULL,
            entity TEXT NOT NULL,
            id,
            body TEXT NOT NULL,
            state TEXT NOT NULL,
            reason TEXT,
            forwarded REAL NOT NULL,
            version INTEGER NOT NULL
          )
          """)
      try db.execute(
        sql: "CREATE INDEX IF NOT EXISTS \"concord_outbox.version\" ON concord_outbox (version)")
      try db.execute(
        sql: """
          CREATE TABLE IF NOT EXISTS concord_outbox_state (
            epoch INTEGER NOT NULL,
            version INTEGER NOT NULL,
            forgotten INTEGER NOT NULL,
            cleared INTEGER NOT NULL
          )
          """)
      try db.execute(
        sql: "INSERT INTO concord_outbox_state (epoch, version, forgotten, cleared) VALUES (?, 1, 0, 0)",
        arguments: [Int64.random(in: 1 ... .max)])
    }

    private func forgetOutbox(before limit: Int64) throws {
      guard limit > 0 else { return }
      try db.execute(
        sql: "DELETE FROM concord_outbox WHERE version <= ? AND state IN ('sent', 'dropped')",
        arguments: [limit])
      try db.execute(sql: "UPDATE concord_outbox_state SET forgotten = MAX(forgotten, ?)", arguments: [limit])
    }
  }
#endif
