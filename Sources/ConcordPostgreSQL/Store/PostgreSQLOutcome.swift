#if PostgreSQL
  import ConcordModel
  import Foundation

  /// Finds out whether a transaction was committed whose answer was lost.
  struct PostgreSQLOutcome {
    private let pool: PostgreSQLPool
    private let store: String
    /// The triggers without which a committed transaction is not in the feed.
    private let triggers: [PostgreSQLConnection.Command]
    private static let longest = 60.0

    /// - Parameter tables: those that the transaction may have written.
    init(_ pool: PostgreSQLPool, store: String, _ tables: some Sequence<PostgreSQLTable>) {
      (self.pool, self.store) = (pool, store)
      triggers = [TriggerCheck.changes(tables).command, TriggerCheck.outbox.command]
    }

    /// Asks the server until it knows. A transaction that is still open there belongs to a connection that is gone, and is ended.
    ///
    /// A server that has crashed, or a standby that was promoted, may have lost the transaction and given its id again. So what counts is
    /// that its changes are in the feed.
    ///
    /// - Throws: ``/ConcordModel/StoreError`` if the server cannot be asked for a long time, or the triggers are disabled that fill the feed.
    func isCommitted(_ id: TransactionID) throws -> Bool {
      let end = Date(timeIntervalSinceNow: Self.longest)
      var wait = 0.01
      while true {
        do {
          // A connection of its own: those of the pool may all be used by those who ask the same.
          let connection = try pool.connect()
          let results = try connection.run(
            [
              .once(
                """
                SELECT pg_xact_status('\(id.number)'::xid8), \(Self.isTrimmed(id.number)), EXISTS (
                  SELECT 1 FROM concord_changes WHERE xid = '\(id.number)'::xid8 AND session = \(literal(id.session))
                ) FROM concord_state
                """)
            ] + triggers)
          let result = results[0]
          switch result.count > 0 ? result.optionalText(0, 0) : nil {
          case "committed":
            if result.bool(0, 2) { return true }
            guard !result.bool(0, 1) else { throw unknown("\(id.number)") }
            try checkFeed(results.dropFirst(), "\(id.number)")
            // It has changed nothing, or is another one.
            return false
          case "aborted": return false
          case "in progress":
            if wait > 0.1 {
              try connection.run([
                .once(
                  """
                  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                  WHERE backend_xid = '\(UInt32(truncatingIfNeeded: id.number))'::xid AND pid <> pg_backend_pid()
                  """)
              ])
            }
          default:
            throw unknown("\(id.number)")
          }
        } catch let failure as PostgreSQLFailure {
          // The server has gone back, as a standby that was promoted without the last commits.
          if failure.code == "22023" { return false }
          if Date() > end || !failure.isConnectionLost { throw StoreError(failure, store: store) }
        }
        if Date() > end {
          throw StoreError.storeFailed(store: store, reason: "the outcome of transaction \(id.number) is not known yet")
        }
        Thread.sleep(forTimeInterval: wait)
        wait = min(wait * 2, 1)
      }
    }

    /// Asks whether the last transaction of a connection was committed that is lost, and whose id is not known.
    ///
    /// A connection has an advisory lock, which the server releases when the connection has ended there, and with it the transaction. From then
    /// on it is certain whether the transaction's changes are in the feed.
    ///
    /// - Parameters:
    ///   - last: the id of the connection's transaction before that one.
    ///   - bound: an id that was not given before the transaction was sent.
    /// - Returns: the id; `nil` if it was not committed, or has changed nothing.
    /// - Throws: ``/ConcordModel/StoreError`` if the server cannot be asked for a long time, or the triggers are disabled that fill the feed.
    func committed(by session: String, after last: UInt64, from bound: UInt64) throws -> UInt64? {
      let end = Date(timeIntervalSinceNow: Self.longest)
      var wait = 0.01
      while true {
        do {
          // A connection of its own: those of the pool may all be used by those who ask the same. It takes the lock with it.
          let connection = try pool.connect()
          let results = try connection.run(
            [
              .once("SELECT pg_try_advisory_lock(\(PostgreSQLConnection.lock(of: session)))"),
              .once(
                """
                SELECT \(Self.isTrimmed(bound)), (
                  SELECT xid FROM concord_changes
                  WHERE xid > '\(last)'::xid8 AND session = \(literal(session))
                  ORDER BY xid DESC LIMIT 1
                ) FROM concord_state
                """),
            ] + triggers)
          if results[0].bool(0, 0) {
            guard results[1].count > 0 else { throw unknown("of a lost connection") }
            if !results[1].isNull(0, 1) { return results[1].bits(0, 1) }
            if results[1].bool(0, 0) { throw unknown("of a lost connection") }
            try checkFeed(results.dropFirst(2), "of a lost connection")
            return nil
          }
          // The server may not know yet that the connection is gone.
          if wait > 0.1 { try connection.run([.once(Self.endOwner(of: session))]) }
        } catch let failure as PostgreSQLFailure {
          if Date() > end || !failure.isConnectionLost { throw StoreError(failure, store: store) }
        }
        if Date() > end {
          throw StoreError.storeFailed(
            store: store, reason: "the outcome of a transaction whose connection was lost is not known yet")
        }
        Thread.sleep(forTimeInterval: wait)
        wait = min(wait * 2, 1)
      }
    }

    /// Whether the changes of a transaction may have been removed because of their age. A copy may have brought a later id (``ForeignChanges``).
    private static func isTrimmed(_ id: UInt64) -> String {
      "trimmed >= '\(id)'::xid8 AND trimmed < pg_snapshot_xmax(pg_current_snapshot())"
    }

    /// The statement that ends the server's process which has the lock of a connection.
    private static func endOwner(of session: String) -> String {
      """
      SELECT pg_terminate_backend(l.pid) FROM \(PostgreSQLConnection.lock(of: session)) AS h JOIN pg_locks AS l
      ON l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted AND l.pid <> pg_backend_pid()
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND l.classid = (h >> 32 & 4294967295)::oid AND l.objid = (h & 4294967295)::oid
      """
    }

    /// Checks that each committed transaction is in the feed, as far as the triggers tell that are there now: somebody may disable them to load
    /// rows, and what is written meanwhile is in no feed.
    private func checkFeed(_ answers: some Sequence<PostgreSQLResult>, _ transaction: String) throws {
      if answers.allSatisfy({ $0.bool(0, 0) }) { return }
      throw StoreError.storeFailed(
        store: store,
        reason: "the outcome of the transaction \(transaction) cannot be known, since triggers are disabled or missing")
    }

    private func unknown(_ transaction: String) -> StoreError {
      .storeFailed(store: store, reason: "the outcome of the transaction \(transaction) is not known any longer")
    }
  }
#endif
