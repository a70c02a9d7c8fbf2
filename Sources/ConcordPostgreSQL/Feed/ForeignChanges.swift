#if PostgreSQL
  /// Changes that a copy of a database has brought from a cluster which has given more ids of transactions: no transaction has these ids here yet.
  ///
  /// Whatever a snapshot shows has an id below its `xmax`, so that ids from there on are known. They say nothing of this database, and would
  /// be taken for the newest changes until its own ids have come that far.
  enum ForeignChanges {
    /// Removes them. If there are some among the rows as they were, the feed of positions begins anew.
    ///
    /// - Throws: ``PostgreSQLFailure``, with the code 42501 if the role may not do that.
    static func remove(_ connection: PostgreSQLConnection) throws {
      do {
        try connection.run(
          [
            "BEGIN ISOLATION LEVEL READ COMMITTED",
            "UPDATE concord_state SET trimmed = '0' WHERE trimmed >= \(next)",
            "DELETE FROM concord_changes WHERE xid >= \(next)",
          ].map { .once($0) })
        if try connection.query(
          "SELECT count(to_regclass(t)) = 2 FROM unnest(ARRAY['concord_feed', 'concord_history']) t"
        )
        .bool(0, 0) {
          // One of several processes does it; the others find nothing then.
          try connection.run([.once("SELECT FROM concord_feed FOR UPDATE")])
          if try connection.query(isFeedForeign).bool(0, 0) {
            try connection.run(HistoryTables.beginAnew.map { .once($0) })
          }
        }
        try connection.run([.once("COMMIT")])
      } catch {
        _ = connection.rollBack()
        throw error
      }
    }

    /// The id from which on no transaction is visible.
    private static let next = "pg_snapshot_xmax(pg_current_snapshot())"

    private static let isFeedForeign = """
      SELECT EXISTS (SELECT FROM concord_feed WHERE greatest(forgotten, begun) >= \(next))
        OR EXISTS (SELECT FROM concord_history WHERE xid >= \(next))
      """
  }
#endif
