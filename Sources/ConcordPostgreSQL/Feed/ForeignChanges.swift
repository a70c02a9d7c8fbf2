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
    /// - Parameter deadline: a time after which nothing more is begun; `nil` to go on until all are gone, also where another process is at it.
    /// - Returns: whether there are more.
    /// - Throws: ``PostgreSQLFailure``, with the code 42501 if the role may not do that.
    static func remove(_ connection: PostgreSQLConnection, until deadline: Date?) throws -> Bool {
      while try removeSome(connection, waits: deadline == nil) {
        if let deadline, Date() >= deadline { return true }
      }
      return false
    }

    private static func removeSome(_ connection: PostgreSQLConnection, waits: Bool) throws -> Bool {
      let hasChanges = try connection.query(isAnyForeign).bool(0, 0)
      // Another process may be at it.
      let areGone = hasChanges ? try connection.write(removeChanges(waits: waits)).integer(0, 0) > 0 : false
      guard try connection.query(mayRemoveHistory).bool(0, 0), try connection.query(isHistoryForeign).bool(0, 0) else {
        return areGone
      }
      return try removeHistory(connection, waits: waits) || areGone
    }

    private static let isAnyForeign = """
      SELECT EXISTS (SELECT FROM concord_changes WHERE xid >= \(next))
        OR EXISTS (SELECT FROM concord_state WHERE trimmed >= \(next))
      """

    /// The greatest id that may have been trimmed: of a transaction before all that are open.
    private static let newestTrimmable = "(pg_snapshot_xmin(pg_current_snapshot())::text::bigint - 1)::text::xid8"

    /// The statement that removes some of the changes, and the greater id of what was trimmed: nobody knows what was trimmed here meanwhile.
    ///
    /// - Parameter waits: whether it waits for who holds the row of `concord_state`, maybe for long, if that is to be changed; otherwise it removes
    ///   nothing then.
    private static func removeChanges(waits: Bool) -> String {
      """
      WITH free AS MATERIALIZED (\(waits ? "SELECT" : "SELECT FROM concord_state FOR UPDATE SKIP LOCKED")), gone AS (
        DELETE FROM concord_changes WHERE ctid = ANY (ARRAY(
          SELECT ctid FROM concord_changes WHERE xid >= \(next) AND EXISTS (SELECT 1 FROM free)
          ORDER BY xid LIMIT \(batch) FOR UPDATE SKIP LOCKED
        )) RETURNING xid
      ), state AS (
        UPDATE concord_state SET trimmed = \(newestTrimmable) WHERE trimmed >= \(next) AND EXISTS (SELECT 1 FROM free)
      )
      SELECT count(*) FROM gone
      """
    }

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

    /// - Returns: whether there may be more to remove.
    private static func removeHistory(_ connection: PostgreSQLConnection, waits: Bool) throws -> Bool {
      do {
        // One of several processes does it at a time. The others have to tell commits meanwhile.
        let isFree =
          try connection.run([
            .once("BEGIN ISOLATION LEVEL READ COMMITTED"),
            .once("SELECT FROM concord_feed FOR UPDATE\(waits ? "" : " SKIP LOCKED")"),
          ])[1].count > 0
        if isFree, try connection.query(isHistoryForeign).bool(0, 0) {
          try connection.run([.once(removeChangesOfHistory), .once(HistoryTables.newFeed)])
        }
        try connection.run([.end])
        return isFree
      } catch {
        _ = connection.rollBack()
        throw error
      }
    }
  }
#endif
