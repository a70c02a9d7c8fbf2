#if PostgreSQL
  import ConcordModel
  import ConcordPersistence

  /// Forwarded actions in a database: `concord_outbox`, and `concord_outbox_state` with how often it was written.
  ///
  /// Finished rows stay for a while, without what they held, so that those who follow read only what is new.
  extension PostgreSQLSession {
    func outbox(after known: OutboxVersion?) throws -> OutboxChanges {
      let (version, forgotten, cleared) = try outboxState()
      if version.number == 0 { return OutboxChanges(isWhole: known != .empty) }
      let isWhole = known.map { !$0.isFollowed(by: version, forgotten: forgotten) } ?? true
      if !isWhole, known == version { return OutboxChanges(version: version, isWhole: false) }
      var parameters = PostgreSQLParameters()
      if !isWhole { parameters.append(known?.number ?? 0) }
      let condition = isWhole ? "state IN ('pending', 'refused')" : "version > $1"
      let result = try query(
        "SELECT \(Self.outboxColumns) FROM concord_outbox WHERE \(condition) ORDER BY number", parameters)
      return OutboxChanges(
        version: version, rows: (0..<result.count).map { Self.outboxRow(result, $0) }, isWhole: isWhole,
        wasCleared: known.map { $0.epoch == version.epoch && $0.number < cleared } ?? false)
    }

    func outboxRow(_ number: Int64) throws -> OutboxRow? {
      var parameters = PostgreSQLParameters()
      parameters.append(number)
      let result = try query("SELECT \(Self.outboxColumns) FROM concord_outbox WHERE number = $1", parameters)
      return result.count > 0 ? Self.outboxRow(result, 0) : nil
    }

    func writeOutbox(_ row: OutboxRow) throws -> OutboxRow {
      var row = row
      var next = try advanceOutbox()
      if row.number == 0 {
        row.number = next
        if try !insert(row, next) {
          // Another program has written a row with that number: none is lost.
          next = try advanceOutbox(behindAllRows: true)
          row.number = next
          guard try insert(row, next) else {
            throw StoreError.damagedStore(store: store, reason: "the outbox has no number for a new row")
          }
        }
      } else {
        // One that another program has deleted does not come back.
        try write([.init(sql: Self.updateOutboxRow, parameters: parameters(row, next))])
      }
      if let limit = OutboxLimits.forgotten(at: next) { try forgetOutbox(before: limit) }
      return row
    }

    /// - Returns: `false` if there is a row with its number, which stays.
    private func insert(_ row: OutboxRow, _ version: Int64) throws -> Bool {
      var key = PostgreSQLParameters()
      key.append(PostgreSQLText.encode(row.key))
      return try write([
        // Another program may have given a row the number of a new one, which takes its place.
        .init(sql: "DELETE FROM concord_outbox WHERE number = 0 AND \"key\" = $1", parameters: key),
        .init(sql: Self.insertOutboxRow, parameters: parameters(row, version)),
      ])[1].changedRows == 1
    }

    private func parameters(_ row: OutboxRow, _ version: Int64) -> PostgreSQLParameters {
      var parameters = PostgreSQLParameters()
      parameters.append(row.number)
      for text in [row.key, row.action, row.entity] { parameters.append(PostgreSQLText.encode(text)) }
      _ = ColumnForm.any.append(row.id, to: &parameters)
      parameters.append(PostgreSQLText.encode(row.body))
      parameters.append(row.state.rawValue)
      if let reason = row.reason {
        parameters.append(PostgreSQLText.encode(reason))
      } else {
        parameters.appendNull(.text)
      }
      parameters.append(row.forwarded)
      parameters.append(version)
      return parameters
    }

    func clearOutbox() throws {
      if try outboxState().version.number == 0 { return }
      let next = try advanceOutbox()
      var parameters = PostgreSQLParameters()
      parameters.append(next)
      try write([
        .init(sql: "DELETE FROM concord_outbox"),
        .init(sql: "UPDATE concord_outbox_state SET forgotten = $1, cleared = $1", parameters: parameters),
      ])
    }

    private static let outboxColumns = "number, \"key\", action, entity, id, body, state, reason, forwarded"
    private static let insertOutboxRow = """
      INSERT INTO concord_outbox (\(outboxColumns), version) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
      ON CONFLICT (number) DO NOTHING
      """
    private static let updateOutboxRow = """
      UPDATE concord_outbox SET "key" = $2, action = $3, entity = $4, id = $5, body = $6, state = $7, reason = $8,
      forwarded = $9, version = $10 WHERE number = $1
      """

    private static func outboxRow(_ result: PostgreSQLResult, _ row: Int) -> OutboxRow {
      func text(_ column: Int) -> String { PostgreSQLText.decode(result.bytes(row, column)) }
      var found = OutboxRow(
        key: text(1), action: text(2), entity: text(3),
        id: result.isNull(row, 4) ? .null : AnyValue.value(text(4)), body: text(5),
        forwarded: Double(bitPattern: result.bits(row, 8)))
      found.number = result.integer(row, 0)
      // What a newer program may have written is left alone.
      found.state = OutboxRow.State(rawValue: text(6)) ?? .dropped
      found.reason = result.isNull(row, 7) ? nil : text(7)
      return found
    }

    private func outboxState() throws -> (version: OutboxVersion, forgotten: Int64, cleared: Int64) {
      let result = try query("SELECT epoch, version, forgotten, cleared FROM concord_outbox_state", .none)
      guard result.count > 0 else { return (.empty, 0, 0) }
      let version = OutboxVersion(epoch: result.integer(0, 0), number: result.integer(0, 1))
      return (version, result.integer(0, 2), result.integer(0, 3))
    }

    /// - Parameter behindAllRows: whether the new version follows the numbers of all rows, too.
    private func advanceOutbox(behindAllRows: Bool = false) throws -> Int64 {
      let last = behindAllRows ? "greatest(version, (SELECT max(number) FROM concord_outbox))" : "version"
      let result = try write([.init(sql: "UPDATE concord_outbox_state SET version = \(last) + 1 RETURNING version")])[0]
      guard result.count > 0 else {
        throw StoreError.damagedStore(store: store, reason: "concord_outbox_state has no row")
      }
      return result.integer(0, 0)
    }

    private func forgetOutbox(before limit: Int64) throws {
      var parameters = PostgreSQLParameters()
      parameters.append(limit)
      try write([
        .init(
          sql: "DELETE FROM concord_outbox WHERE version <= $1 AND state IN ('sent', 'dropped')", parameters: parameters
        ),
        .init(sql: "UPDATE concord_outbox_state SET forgotten = greatest(forgotten, $1)", parameters: parameters),
      ])
    }
  }
#endif
