#if PostgreSQL
  import ConcordModel
  import Foundation

  /// Finds out whether a transaction was committed whose answer was lost.
  struct PostgreSQLOutcome {
    private let pool: PostgreSQLPool
    private let store: String
    private static let longest = 60.0

    init(_ pool: PostgreSQLPool, store: String) { (self.pool, self.store) = (pool, store) }

    /// Asks the server until it knows. A transaction that is still open there belongs to a connection that is gone, and is ended.
    ///
    /// A server that has crashed, or a standby that was promoted, may have lost the transaction and given its id again. So what counts is
    /// that its changes are in the feed.
    ///
    /// - Throws: ``/ConcordModel/StoreError`` if the server cannot be asked for a long time.
    func isCommitted(_ id: TransactionID) throws -> Bool {
      let end = Date(timeIntervalSinceNow: Self.longest)
      var wait = 0.01
      while true {
        do {
          // A connection of its own: those of the pool may all be used by those who ask the same.
          let connection = try pool.connect()
          let result = try connection.run([
            .once(
              """
              SELECT pg_xact_status('\(id.number)'::xid8), trimmed >= '\(id.number)'::xid8, EXISTS (
                SELECT 1 FROM concord_changes WHERE xid = '\(id.number)'::xid8 AND session = \(literal(id.session))
              ) FROM concord_state
              """)
          ])[0]
          switch result.count > 0 ? result.optionalText(0, 0) : nil {
          case "committed":
            if result.bool(0, 2) { return true }
            guard !result.bool(0, 1) else { throw unknown(id) }
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
            throw unknown(id)
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

    private func unknown(_ id: TransactionID) -> StoreError {
      .storeFailed(store: store, reason: "the outcome of transaction \(id.number) is not known any longer")
    }
  }
#endif
