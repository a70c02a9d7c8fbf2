#if PostgreSQL
  import ConcordModel
  import Foundation

  /// Finds out whether a transaction was committed whose answer was lost.
  struct PostgreSQLOutcome {
    private let pool: PostgreSQLPool
    private let store: String
    /// The triggers without which a committed transaction is not in the feed, and behind them the epoch.
    private let checks: [PostgreSQLConnection.Command]
    private let epoch: String
    private let didFind: (_ epoch: String) -> Void
    private static let longest = 60.0

    private enum Answer {
      case committed(UInt64), lost
    }

    /// - Parameters:
    ///   - triggers: those of the tables that the transaction may have written.
    ///   - epoch: that of the feed, as it was known before the transaction ended.
    ///   - didFind: called with another one that the feed has by now.
    init(
      _ pool: PostgreSQLPool, store: String, _ triggers: TriggerCheck, epoch: String,
      didFind: @escaping (_ epoch: String) -> Void = { _ in }
    ) {
      (self.pool, self.store, self.epoch, self.didFind) = (pool, store, epoch, didFind)
      checks = [
        triggers.command, TriggerCheck.outbox.command, .once("SELECT \(FeedChanges.epoch) FROM concord_state s"),
      ]
    }

    /// Asks the server until it knows. A transaction that is still open there belongs to a connection that is gone, and is ended.
    ///
    /// A server that has crashed, or a standby that was promoted, may have lost the transaction and given its id again. So what counts is
    /// that its changes are in the feed.
    ///
    /// - Throws: ``/ConcordModel/StoreError`` if the server cannot be asked for a long time, or the feed cannot tell.
    func isCommitted(_ id: TransactionID) throws -> Bool {
      let name = "\(id.number)"
      let answer = try untilKnown(name) { connection, isLate in
        let results: [PostgreSQLResult]
        do {
          results = try connection.run(
            [
              .once("SELECT pg_xact_status('\(id.number)'::xid8)"),
              // By itself: the state in which it is looked for is one of after the commit.
              .once(
                """
                SELECT \(Self.isTrimmed(id.number)), EXISTS (
                  SELECT 1 FROM concord_changes WHERE xid = '\(id.number)'::xid8 AND session = \(literal(id.session))
                ) FROM concord_state
                """),
            ] + checks)
        } catch let failure as PostgreSQLFailure where failure.code == "22023" {
          // The server has gone back, as a standby that was promoted without the last commits.
          return .lost
        }
        switch results[0].optionalText(0, 0) {
        case "committed":
          guard results[1].count > 0 else { throw unknown(name) }
          if results[1].bool(0, 1) { return .committed(id.number) }
          if results[1].bool(0, 0) { throw unknown(name) }
          try checkFeed(results.dropFirst(2), name)
          // It has changed nothing, or is another one.
          return .lost
        case "aborted": return .lost
        case "in progress":
          if isLate {
            try connection.run([
              .once(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE backend_xid = '\(UInt32(truncatingIfNeeded: id.number))'::xid AND pid <> pg_backend_pid()
                """)
            ])
          }
          return nil
        default:
          throw unknown(name)
        }
      }
      return if case .committed = answer { true } else { false }
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
    /// - Throws: ``/ConcordModel/StoreError`` if the server cannot be asked for a long time, or the feed cannot tell.
    func committed(by session: String, after last: UInt64, from bound: UInt64) throws -> UInt64? {
      let name = "of a lost connection"
      let answer = try untilKnown(name) { connection, isLate in
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
          ] + checks)
        guard results[0].bool(0, 0) else {
          // The server may not know yet that the connection is gone.
          if isLate { try connection.run([.once(Self.endOwner(of: session))]) }
          return nil
        }
        guard results[1].count > 0 else { throw unknown(name) }
        if !results[1].isNull(0, 1) { return .committed(results[1].bits(0, 1)) }
        if results[1].bool(0, 0) { throw unknown(name) }
        try checkFeed(results.dropFirst(2), name)
        return .lost
      }
      return if case .committed(let id) = answer { id } else { nil }
    }

    /// Asks again until there is an answer.
    ///
    /// - Parameter ask: asks on a connection of its own: those of the pool may all be used by those who ask the same. It learns whether it was asked
    ///   for a while, and returns `nil` if it is not known yet.
    private func untilKnown(
      _ transaction: String, _ ask: (_ connection: PostgreSQLConnection, _ isLate: Bool) throws -> Answer?
    ) throws -> Answer {
      let end = Date(timeIntervalSinceNow: Self.longest)
      var wait = 0.01
      while true {
        do {
          let connection = try pool.connect()
          // A standby may be about to get the transaction, and knows no locks of the server that it follows. It may be promoted soon.
          let isStandby = try connection.run([.once("SELECT pg_is_in_recovery()")])[0].bool(0, 0)
          if !isStandby, let answer = try ask(connection, wait > 0.1) { return answer }
        } catch let failure as PostgreSQLFailure {
          if Date() > end || !failure.isConnectionLost { throw StoreError(failure, store: store) }
        }
        if Date() > end {
          throw unknown(transaction, "is not known yet")
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

    /// Checks that each committed transaction is in the feed: somebody may disable triggers to load rows, and what is written meanwhile is in no feed.
    /// Whoever enables them draws a new epoch, which is looked at after the triggers.
    private func checkFeed(_ answers: ArraySlice<PostgreSQLResult>, _ transaction: String) throws {
      guard answers.dropLast().allSatisfy({ $0.bool(0, 0) }) else {
        throw unknown(transaction, "cannot be known, since triggers are disabled or missing")
      }
      guard let last = answers.last, last.count > 0 else { throw unknown(transaction) }
      let found = last.text(0, 0)
      if found == epoch { return }
      didFind(found)
      throw unknown(transaction)
    }

    private func unknown(_ transaction: String, _ reason: String = "is not known any longer") -> StoreError {
      .storeFailed(store: store, reason: "the outcome of the transaction \(transaction) \(reason)")
    }
  }
#endif
