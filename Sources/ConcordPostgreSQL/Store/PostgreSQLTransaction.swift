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
    private let mayAssume: Bool
    private let search: SearchUse

    /// - Parameter mayAssume: whether the only row of the transaction may be taken for written before the server has said so.
    init(
      _ connection: PostgreSQLConnection, store: String, pool: PostgreSQLPool, watch: PostgreSQLWatch,
      deletionTime: TimeInterval, mayAssume: Bool, search: SearchUse
    ) {
      self.search = search
      (self.connection, self.store, self.pool, self.watch) = (connection, store, pool, watch)
      (self.deletionTime, self.mayAssume) = (deletionTime, mayAssume)
    }

    /// - Throws: ``PostgreSQLFailure`` if the transaction had no effect, and may be run again if its kind allows that;
    ///   ``AssumptionFailed``.
    func write<R>(
      _ tables: [EntityDescription: PostgreSQLTable], origin: ObjectIdentifier?, _ feed: CommitFeed,
      _ body: (PostgreSQLSession) throws -> R
    ) throws -> R {
      connection.later(.init(sql: "BEGIN ISOLATION LEVEL SERIALIZABLE"))
      if let claiming = search.claiming { connection.later(claiming) }
      let session = PostgreSQLSession(
        connection, tables: tables, store: store, deletionTime: deletionTime, mayAssume: mayAssume, search: search)
      let result: R
      do {
        result = try body(session)
        try session.foldWords()
        try session.checkAssumption(isLast: true)
      } catch {
        // What the body made of it does not matter.
        if session.hasAssumptionFailed { throw AssumptionFailed() }
        if let failure = session.failure,
          failure.isConflict || failure.isConnectionLost || failure.code == "23505" || failure.concernsWords
        {
          throw failure
        }
        throw error
      }
      if session.hasAssumptionFailed { throw AssumptionFailed() }
      if let failure = session.failure { throw failure }
      let id = try commit(session, tables.values)
      if let id {
        if !session.changedKeys.isEmpty { feed.tell([StoreCommit(keys: session.changedKeys, origin: origin)]) }
        watch.didTell(id)
      }
      return result
    }

    /// Sends what waits and the commit, in one round trip.
    ///
    /// - Returns: the id of the transaction; `nil` if it has written nothing.
    private func commit(
      _ session: PostgreSQLSession, _ tables: some Sequence<PostgreSQLTable>
    ) throws -> TransactionID? {
      // Who reads from then on must see it.
      defer { watch.toldState.noteUse() }
      let assumption = session.assumption
      var commands = session.takeWaiting()
      if commands.isEmpty, session.transactionID == nil {
        // Nothing was written, so nothing can be in doubt.
        if !connection.forgetDeferred() || connection.isInTransaction { try connection.run([.once("COMMIT")]) }
        return nil
      }
      if assumption == nil, session.transactionID == nil { commands.append(PostgreSQLSession.selectTransactionID) }
      commands.append(.end)
      // The id of this transaction is not less.
      let (bound, epoch) = (watch.nextTransaction, watch.lastEpoch)
      let mayNotifyLater = watch.isPausing
      let number: UInt64
      do {
        let results = try connection.run(commands, followedBy: mayNotifyLater ? nil : watch.notification)
        if assumption != nil {
          guard results[0].count == 1 else { throw AssumptionFailed() }
          number = results[0].bits(0, 1)
        } else {
          number = session.transactionID ?? results[results.count - 2].bits(0, 0)
        }
      } catch let failure as PostgreSQLFailure where failure.isConnectionLost {
        guard let committed = try outcome(session.transactionID, bound, epoch, tables) else { throw failure }
        number = committed
      }
      if mayNotifyLater, !watch.mayNotifyLater() { try? connection.finish(watch.notification) }
      connection.lastTransaction = number
      return TransactionID(number: number, session: connection.session)
    }

    /// - Returns: the id of the transaction if it was committed, although the connection was lost.
    private func outcome(
      _ number: UInt64?, _ bound: UInt64, _ epoch: String, _ tables: some Sequence<PostgreSQLTable>
    ) throws -> UInt64? {
      let outcome = PostgreSQLOutcome(pool, store: store, .changes(tables), epoch: epoch) { found in
        watch.state.withLock { $0.lastEpoch = found }
      }
      do {
        guard let number else {
          return try outcome.committed(by: connection.session, after: connection.lastTransaction, from: bound)
        }
        return try outcome.isCommitted(TransactionID(number: number, session: connection.session)) ? number : nil
      } catch {
        // If it was, observers learn it as they learn what other writers commit.
        watch.doubt(connection.session)
        throw error
      }
    }
  }
#endif
