#if PostgreSQL
  import Foundation

  /// Changes that a copy of a database has brought from a cluster which has given more ids of transactions: no transaction has these ids here yet.
  ///
  /// Whatever a snapshot shows has an id below its `xmax`, so that ids from there on are known. They say nothing of this database, and would
  /// be taken for the newest changes until its own ids have come that far. They are left out until they are removed.
  enum ForeignChanges {
    private static let next = FeedTables.nextID

    /// The number of changes that one statement removes.
    private static let batch = 1000

    /// Removes them, some at a time, as far as the role may do that. If there are some among the rows as they were, the feed of positions begins
    /// anew.
    ///
    /// - Parameter deadline: a time after which nothing more is begun.
    /// - Returns: whether there are more.
    /// - Throws: ``PostgreSQLFailure``, with the code 42501 if the role may not do that.
    static func remove(_ connection: PostgreSQLConnection, until deadline: Date) throws -> Bool {
      while try removeSome(connection) { if Date() >= deadline { return true } }
      return false
    }

    private static func removeSome(_ connection: PostgreSQLConnection) throws -> Bool {
      let hasChanges = try connection.query(isAnyForeign).bool(0, 0)
      // Another process may be at it.
      let areGone = hasChanges ? try connection.query(removeChanges).integer(0, 0) > 0 : false
      guard try connection.query(mayRemoveHistory).bool(0, 0), try connection.query(isHistoryForeign).bool(0, 0) else {
        return areGone
      }
      try removeHistory(connection)
      return true
    }

    private static let isAnyForeign = """
      SELECT EXISTS (SELECT FROM concord_changes WHERE xid >= \(next))
        OR EXISTS (SELECT FROM concord_state WHERE trimmed >= \(next))
      """

    // It is not known what was trimmed here while a greater id stood there.
    private static let removeChanges = """
      WITH gone AS (
        DELETE FROM concord_changes WHERE ctid = ANY (ARRAY(
          SELECT ctid FROM concord_changes WHERE xid >= \(next) ORDER BY xid LIMIT \(batch) FOR UPDATE SKIP LOCKED
        )) RETURNING xid
      ), state AS (
        UPDATE concord_state SET trimmed = pg_snapshot_xmin(pg_current_snapshot()) WHERE trimmed >= \(next)
      )
      SELECT count(*) FROM gone
      """

    // MARK: Rows as they were

    /// A program that nobody follows has no rights there.
    private static let mayRemoveHistory = """
      SELECT count(*) = 2 FROM (VALUES ('concord_feed', 'UPDATE'), ('concord_history', 'DELETE')) AS t (name, privilege)
      WHERE has_table_privilege(to_regclass(name), privilege)
      """

    private static let isHistoryForeign = """
      SELECT EXISTS (SELECT FROM concord_feed WHERE greatest(forgotten, begun) >= \(next))
        OR EXISTS (SELECT FROM concord_history WHERE xid >= \(next))
      """

    private static let removeChangesOfHistory = """
      DELETE FROM concord_history WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM concord_history WHERE xid >= \(next) ORDER BY xid LIMIT \(batch)
      ))
      """

    private static func removeHistory(_ connection: PostgreSQLConnection) throws {
      do {
        // One of several processes does it at a time; the others find nothing then.
        try connection.run([
          .once("BEGIN ISOLATION LEVEL READ COMMITTED"), .once("SELECT FROM concord_feed FOR UPDATE"),
        ])
        if try connection.query(isHistoryForeign).bool(0, 0) {
          try connection.run([.once(HistoryTables.newFeed), .once(removeChangesOfHistory)])
        }
        try connection.run([.end])
      } catch {
        _ = connection.rollBack()
        throw error
      }
    }
  }
#endif
