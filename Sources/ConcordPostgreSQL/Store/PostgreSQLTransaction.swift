#if PostgreSQL
  import Concord
  import ConcordModel
  import ConcordPersistence
  import Foundation

  /// One attempt to write.
  struct PostgreSQLTransaction {
    private let connection: PostgreSQLConnection
    private let store: String
    private let pool: PostgreSQLPool
    private let watch: PostgreSQLWatch
    private let deletionTime: TimeInterval

    init(
      _ connection: PostgreSQLConnection, store: String, pool: PostgreSQLPool, watch: PostgreSQLWatch,
      deletionTime: TimeInterval
    ) {
      (self.connection, self.store, self.pool, self.watch) = (connection, store, pool, watch)
      self.deletionTime = deletionTime
    }

    /// - Throws: ``PostgreSQLFailure`` if the transaction had no effect, and may be run again if its kind allows that.
    func write<R>(
      _ tables: [EntityDescription: PostgreSQLTable], origin: ObjectIdentifier?, _ feed: CommitFeed,
      _ body: (PostgreSQLSession) throws -> R
    ) throws -> R {
      connection.later(.init(sql: "BEGIN ISOLATION LEVEL SERIALIZABLE"))
      let session = PostgreSQLSession(connection, tables: tables, store: store, deletionTime: deletionTime)
      let result: R
      do { result = try body(session) } catch {
        // What the body made of it does not matter.
        if let failure = session.failure, failure.isConflict || failure.isConnectionLost || failure.code == "23505" {
          throw failure
        }
        throw error
      }
      if let failure = session.failure { throw failure }
      if connection.forgetDeferred(), !connection.isInTransaction { return result }
      guard let id = session.transactionID.map({ TransactionID(number: $0, session: connection.session) }) else {
        // Nothing was written, so nothing can be in doubt.
        try connection.run([.once("COMMIT")])
        return result
      }
      watch.willCommit(id)
      do {
        try connection.run([.init(sql: "COMMIT"), watch.notification])
      } catch let failure as PostgreSQLFailure {
        // What comes after the commit only wakes others.
        guard try failure.succeeded > 0 || isCommitted(id, failure) else {
          watch.didNotCommit(id)
          throw failure
        }
      }
      if !session.changedKeys.isEmpty { feed.tell([StoreCommit(keys: session.changedKeys, origin: origin)]) }
      return result
    }

    /// Whether a transaction was committed, although the commit has failed.
    private func isCommitted(_ id: TransactionID, _ failure: PostgreSQLFailure) throws -> Bool {
      guard failure.isConnectionLost else { return false }
      do { return try PostgreSQLOutcome(pool, store: store).isCommitted(id) } catch {
        // If it was, observers learn it as they learn what others commit.
        watch.didNotCommit(id)
        throw error
      }
    }
  }
#endif
