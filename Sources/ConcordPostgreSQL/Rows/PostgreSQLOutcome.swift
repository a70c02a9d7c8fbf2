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
    /// - Throws: ``/ConcordModel/StoreError`` if the server cannot be asked for a long time.
    func isCommitted(_ id: UInt64) throws -> Bool {
      let end = Date(timeIntervalSinceNow: Self.longest)
      var wait = 0.01
      while true {
        do {
          // A connection of its own: those of the pool may all be used by those who ask the same.
          let connection = try pool.connect()
          switch try connection.run([.once("SELECT pg_xact_status('\(id)'::xid8)")])[0].optionalText(0, 0) {
          case "committed": return true
          case "aborted": return false
          case "in progress":
            if wait > 0.1 {
              try connection.run([
                .once(
                  """
                  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                  WHERE backend_xid = '\(UInt32(truncatingIfNeeded: id))'::xid AND pid <> pg_backend_pid()
                  """)
              ])
            }
          default:
            throw StoreError.storeFailed(
              store: store, reason: "the outcome of transaction \(id) is not known any longer")
          }
        } catch let failure as PostgreSQLFailure {
          // The server has gone back, as a standby that was promoted without the last commits.
          if failure.code == "22023" { return false }
          if Date() > end || !failure.isConnectionLost { throw StoreError(failure, store: store) }
        }
        if Date() > end {
          throw StoreError.storeFailed(store: store, reason: "the outcome of transaction \(id) is not known yet")
        }
        Thread.sleep(forTimeInterval: wait)
        wait = min(wait * 2, 1)
      }
    }
  }
#endif
