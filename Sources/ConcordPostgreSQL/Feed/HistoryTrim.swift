#if PostgreSQL
  import ConcordPersistence

  /// Forgets rows as they were before old changes, some at a time. Of the changes before ``/ConcordPersistence/FeedLimits/changes`` the last one of
  /// each row is kept, and of those the last ``/ConcordPersistence/FeedLimits/rows``. One of several processes does it at a time.
  ///
  /// The numbers of a transaction that commits late may be passed by then, so that what is kept of it was not counted. It is counted now and then.
  struct HistoryTrim {
    let connection: PostgreSQLConnection
    let limits: FeedLimits
    /// Asked when there is nothing more to forget: whether to count now what is kept.
    let mayCount: () -> Bool

    /// The number of changes that one step looks at.
    private static let batch: Int64 = 500

    /// - Returns: whether more is to be forgotten.
    func run() throws -> Bool {
      do {
        try connection.run([.once("BEGIN ISOLATION LEVEL READ COMMITTED")])
        let isMore = try step()
        try connection.run([.once("COMMIT")])
        return isMore
      } catch {
        _ = connection.rollBack()
        throw error
      }
    }

    private func step() throws -> Bool {
      let state = try connection.query(
        """
        SELECT merged, kept, (SELECT number FROM concord_history ORDER BY number DESC LIMIT 1),
          (SELECT number FROM concord_history ORDER BY number LIMIT 1)
        FROM concord_feed FOR UPDATE SKIP LOCKED
        """)
      guard state.count > 0, !state.isNull(0, 2) else { return false }
      let last = max(0, state.integer(0, 2))
      // What another program has written there is no number of a change.
      func number(_ column: Int) -> Int64 { min(max(0, state.integer(0, column)), last) }
      // Numbers go on when the feed begins anew.
      let merged = max(number(0), number(3) - 1)
      var kept = number(1)
      let limit = last - Int64(max(0, limits.changes))
      let end = limit > merged ? try endOfBatch(from: merged, upTo: limit) : limit
      if end > merged { kept += try merge(from: merged, to: end) }
      let tooMany = min(kept - Int64(max(0, limits.rows)), Self.batch)
      if tooMany > 0 {
        let count = try forget(tooMany, upTo: max(merged, end))
        // If these were fewer, there are no more.
        kept = count < tooMany ? 0 : kept - count
      }
      if end > merged || tooMany > 0 {
        try run("UPDATE concord_feed SET merged = greatest(merged, $1), kept = $2", [end, kept])
      }
      if end < limit || kept > Int64(max(0, limits.rows)) { return true }
      guard mayCount() else { return false }
      let result = try run(
        """
        UPDATE concord_feed SET kept = c.count
        FROM (SELECT count(*) FROM concord_history WHERE number <= $1) AS c RETURNING c.count
        """, [max(merged, end)])
      return result.count > 0 && result.integer(0, 0) > Int64(max(0, limits.rows))
    }

    /// Returns the number of the last change of a batch. By the changes that are there: numbers say how many only if nobody else has written them.
    private func endOfBatch(from begin: Int64, upTo limit: Int64) throws -> Int64 {
      let result = try run(
        "SELECT number FROM concord_history WHERE number > $1 AND number <= $2 ORDER BY number OFFSET $3 LIMIT 1",
        [begin, limit, Self.batch - 1])
      return result.count > 0 ? result.integer(0, 0) : limit
    }

    /// Forgets the changes of rows that have later changes up to a number. What is kept tells the keys.
    ///
    /// Two transactions may change a list of one row at once, and the later change be committed first: who has seen that, and not the earlier one,
    /// gets everything (see `PostgreSQLSession.changes(since:)`).
    ///
    /// - Returns: by how many changes there are more that are the last ones of their rows.
    private func merge(from begin: Int64, to end: Int64) throws -> Int64 {
      let result = try run(
        """
        WITH gone AS (
          DELETE FROM concord_history AS e USING concord_history AS l
          WHERE l.number > $1 AND l.number <= $2 AND e.number < l.number AND e.xid <= l.xid
          AND \(HistoryTables.hash(of: "e")) = \(HistoryTables.hash(of: "l")) AND e.entity = l.entity AND e."key" = l."key"
          RETURNING e.xid
        ), state AS (
          UPDATE concord_feed SET forgotten = greatest(forgotten, (SELECT xid FROM gone ORDER BY xid DESC LIMIT 1))
        )
        SELECT (SELECT count(*) FROM concord_history WHERE number > $1 AND number <= $2) - (SELECT count(*) FROM gone)
        """, [begin, end])
      return result.integer(0, 0)
    }

    /// Forgets the oldest changes.
    ///
    /// - Returns: their number.
    private func forget(_ count: Int64, upTo end: Int64) throws -> Int64 {
      let result = try run(
        """
        WITH gone AS (
          DELETE FROM concord_history
          WHERE number IN (SELECT number FROM concord_history WHERE number <= $1 ORDER BY number LIMIT $2) RETURNING xid
        ), state AS (
          UPDATE concord_feed SET begun = greatest(begun, (SELECT xid FROM gone ORDER BY xid DESC LIMIT 1))
        )
        SELECT count(*) FROM gone
        """, [end, count])
      return result.integer(0, 0)
    }

    @discardableResult
    private func run(_ sql: String, _ numbers: [Int64]) throws -> PostgreSQLResult {
      var parameters = PostgreSQLParameters()
      for number in numbers { parameters.append(number) }
      return try connection.query(sql, parameters)
    }
  }
#endif
