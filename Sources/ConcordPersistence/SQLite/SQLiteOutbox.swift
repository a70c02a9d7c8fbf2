#if Persistence
  import ConcordModel
  import GRDB
  import Synchronization

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
      // A new row has the number of its version. Only rows that were changed later are in the index.
      let condition =
        isWhole ? "state IN ('pending', 'refused')" : "number > ?1 OR (version > number AND version > ?1)"
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
      var row = row
      var next = try advanceOutbox()
      if row.number == 0 {
        // Another program may have given a row the number of a new one, which takes its place.
        try removeUnnumbered(row)
        row.number = next
        do { try write(row, next, Self.insertOutboxRow) } catch let failure as SQLiteFailure where failure.isConstraint
        {
          // Another program has written a row with that number: none is lost.
          next = try advanceOutbox(after: lastOutboxNumber())
          row.number = next
          try write(row, next, Self.insertOutboxRow)
        }
      } else {
        try write(row, next, Self.updateOutboxRow)
      }
      if let limit = OutboxLimits.forgotten(at: next) { try forgetOutbox(before: limit) }
      return row
    }

    private func removeUnnumbered(_ row: OutboxRow) throws {
      let statement = SQLiteStatement(
        try db.cachedStatement(sql: "DELETE FROM concord_outbox WHERE number = 0 AND \"key\" = ?"))
      defer { statement.reset() }
      try statement.bind(.text(row.key), at: 1)
      _ = try statement.step()
    }

    private func write(_ row: OutboxRow, _ version: Int64, _ sql: String) throws {
      let statement = SQLiteStatement(try db.cachedStatement(sql: sql))
      defer { statement.reset() }
      try statement.bind(.integer(row.number), at: 1)
      try statement.bind(.text(row.key), at: 2)
      try statement.bind(.text(row.action), at: 3)
      try statement.bind(.text(row.entity), at: 4)
      try statement.bind(row.id, at: 5)
      try statement.bind(.text(row.body), at: 6)
      try statement.bind(.text(row.state.rawValue), at: 7)
      try statement.bind(row.reason.map { .text($0) } ?? .null, at: 8)
      try statement.bind(.real(row.forwarded), at: 9)
      try statement.bind(.integer(version), at: 10)
      _ = try statement.step()
    }

    func clearOutbox() throws {
      guard try outboxState() != nil else { return }
      let next = try advanceOutbox()
      try db.execute(sql: "DELETE FROM concord_outbox")
      try db.execute(sql: "UPDATE concord_outbox_state SET forgotten = ?, cleared = ?", arguments: [next, next])
    }

    private static let outboxColumns = "number, \"key\", action, entity, id, body, state, reason, forwarded"
    private static let insertOutboxRow = """
      INSERT INTO concord_outbox (\(outboxColumns), version) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
      """
    private static let updateOutboxRow = """
      UPDATE concord_outbox SET "key" = ?2, action = ?3, entity = ?4, id = ?5, body = ?6, state = ?7, reason = ?8,
      forwarded = ?9, version = ?10 WHERE number = ?1
      """

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
      guard try outboxPresence.isKnown || hasOutbox() else { return nil }
      do { return try readOutboxState() } catch {
        // Making them may have been rolled back or have ended after this reading began, and another program may have removed them.
        if try hasOutbox() { throw error }
        return nil
      }
    }

    private func readOutboxState() throws -> (version: OutboxVersion, forgotten: Int64, cleared: Int64)? {
      // Whether the tables are there may turn out when the statement runs, if it was prepared before.
      let state = SQLiteStatement(
        try db.cachedStatement(sql: "SELECT epoch, version, forgotten, cleared FROM concord_outbox_state"))
      defer { state.reset() }
      guard try state.step() else { return nil }
      let version = OutboxVersion(epoch: state.integer(at: 0) ?? 0, number: state.integer(at: 1) ?? 0)
      return (version, state.integer(at: 2) ?? 0, state.integer(at: 3) ?? 0)
    }

    private func hasOutbox() throws -> Bool {
      let statement = SQLiteStatement(
        try db.cachedStatement(sql: "SELECT 1 FROM sqlite_master WHERE name = 'concord_outbox_state'"))
      defer { statement.reset() }
      let isFound = try statement.step()
      outboxPresence.isKnown = isFound
      return isFound
    }

    /// - Parameter number: a number that the new version follows, too.
    private func advanceOutbox(after number: Int64 = 0) throws -> Int64 {
      guard let version = try outboxState()?.version else {
        try makeOutbox()
        return 1
      }
      let (next, overflows) = max(version.number, number).addingReportingOverflow(1)
      if overflows { throw StoreError.damagedStore(store: "SQLite", reason: "the outbox has no further number") }
      let statement = SQLiteStatement(try db.cachedStatement(sql: "UPDATE concord_outbox_state SET version = ?"))
      defer { statement.reset() }
      try statement.bind(.integer(next), at: 1)
      _ = try statement.step()
      return next
    }

    private func lastOutboxNumber() throws -> Int64 {
      let statement = SQLiteStatement(try db.cachedStatement(sql: "SELECT MAX(number) FROM concord_outbox"))
      defer { statement.reset() }
      return try statement.step() ? statement.integer(at: 0) ?? 0 : 0
    }

    private func makeOutbox() throws {
      try db.execute(
        sql: """
          CREATE TABLE IF NOT EXISTS concord_outbox (
            number INTEGER PRIMARY KEY,
            "key" TEXT NOT NULL,
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
        sql: """
          CREATE INDEX IF NOT EXISTS "concord_outbox.changed" ON concord_outbox (version)
          WHERE version > number OR state IN ('sent', 'dropped')
          """)
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
      try db.execute(
        sql: "DELETE FROM concord_outbox WHERE version <= ? AND state IN ('sent', 'dropped')",
        arguments: [limit])
      try db.execute(sql: "UPDATE concord_outbox_state SET forgotten = MAX(forgotten, ?)", arguments: [limit])
    }
  }

  /// Whether the tables of forwarded actions were seen in a file, so that they need not be looked for.
  final class SQLiteOutboxPresence: Sendable {
    private let known = Atomic<Bool>(false)

    var isKnown: Bool {
      get { known.load(ordering: .relaxed) }
      set { known.store(newValue, ordering: .relaxed) }
    }
  }
#endif
