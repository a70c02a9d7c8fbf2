#if PostgreSQL
  import Concord
  import ConcordModel
  import ConcordPersistence
  import Foundation

  /// Follows what others commit, and tells it: a thread with a connection of its own, which listens, and asks when it was notified or an
  /// interval has passed.
  final class PostgreSQLWatch: Sendable {
    private let pool: PostgreSQLPool
    private let options: PostgreSQLOptions
    private let tables: [String: PostgreSQLTable]
    private let store: String
    private let feed: CommitFeed
    private let state: Locked<State>
    /// Held while it is asked what is new, so that each commit is told once.
    private let asking = NSLock()
    /// The ends of a pipe: what is written to the second one ends the waiting.
    private let wake: (read: Int32, write: Int32)
    /// The notification that wakes other processes.
    let notification: PostgreSQLConnection.Command

    private struct State {
      var position: FeedPosition
      var epoch: String
      /// The server, as it was when the position was taken.
      var identity: String
      /// Transactions of this store that are told, as they are when they have ended, and are behind the position.
      var told: Set<TransactionID> = []
      /// Those before the position that are not told yet, and their keys.
      var untold: [TransactionID: [EntityKey]] = [:]
      /// Connections of this store of whose last transaction it is not known how it has ended.
      var doubted: Set<String> = []
      /// The number of times that it was told that everything may have changed.
      var unknownCount = 0
      var isStarted = false
      var isStopped = false
    }

    /// How far all was told when a reading began.
    struct Mark {
      fileprivate let position: FeedPosition
    }

    init(
      _ pool: PostgreSQLPool, _ options: PostgreSQLOptions, _ tables: [EntityDescription: PostgreSQLTable],
      store: String, _ feed: CommitFeed
    ) throws {
      (self.pool, self.options, self.store, self.feed) = (pool, options, store, feed)
      self.tables = Dictionary(uniqueKeysWithValues: tables.map { ($0.name, $1) })
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0 else { throw StoreError.storeFailed(store: store, reason: "no pipe can be made") }
      wake = (ends[0], ends[1])
      var parameters = PostgreSQLParameters()
      parameters.append(FeedTables.channel(options.schema))
      parameters.append(pool.id)
      notification = .init(sql: "SELECT pg_notify($1, $2)", parameters: parameters)
      do {
        let state = try StoreError.translating(store: store) {
          try pool.with { connection in
            let identity = try Self.identity(connection)
            let result = try connection.query("SELECT pg_current_snapshot()::text, epoch::text FROM concord_state")
            guard result.count > 0, let position = FeedPosition(result.text(0, 0)) else {
              throw StoreError.damagedStore(store: store, reason: "concord_state has no row")
            }
            return State(position: position, epoch: result.text(0, 1), identity: identity)
          }
        }
        self.state = Locked(state)
      } catch {
        close(ends[0])
        close(ends[1])
        throw error
      }
    }

    deinit {
      close(wake.read)
      close(wake.write)
    }

    /// The identity of a database, and of its history: the cluster, how often another one took over from it, when it was
    /// started, and the table, which is another one in a database that was filled from a copy.
    private static func identity(_ connection: PostgreSQLConnection) throws -> String {
      try connection.query(
        """
        SELECT system_identifier::text || ':' || CASE WHEN pg_is_in_recovery() THEN ''
          ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END
          || ':' || pg_postmaster_start_time()::text || ':' || 'concord_state'::regclass::oid::text
        FROM pg_control_system()
        """
      ).text(0, 0)
    }

    // MARK: Own transactions

    /// An id that no transaction has been given yet that this store knows of.
    var nextTransaction: UInt64 { state.withLock { $0.position.xmax } }

    /// Notes that observers are told of a transaction of this store.
    func didTell(_ id: TransactionID) {
      state.withLock { state in
        guard state.isStarted, state.untold.removeValue(forKey: id) == nil else { return }
        state.told.insert(id)
      }
    }

    /// Notes that it is not known how the last transaction of a connection of this store has ended. If it was committed, it is told as those of
    /// others are.
    func doubt(_ session: String) {
      let isPassed = state.withLock { state in
        state.doubted.insert(session)
        let count = state.untold.count
        state.untold = state.untold.filter { $0.key.session != session }
        return state.untold.count < count
      }
      if isPassed { tellAny() }
    }

    /// Whether this store tells the end of a transaction by itself.
    private func isOwn(_ id: TransactionID, _ state: State) -> Bool {
      id.session.hasPrefix(pool.id) && !state.doubted.contains(id.session)
    }

    /// The position up to which commits are told; `nil` if nobody follows.
    var position: FeedPosition? { state.withLock { $0.isStarted ? $0.position : nil } }

    /// The mark of a reading that begins now; `nil` if nobody follows.
    var mark: Mark? { position.map { Mark(position: $0) } }

    /// The keys of what a reading sees and is not told yet, those of commits of this store that are ending, too.
    ///
    /// - Parameters:
    ///   - mark: that of the reading.
    ///   - run: runs a statement in the reading.
    func untold(
      since mark: Mark?, _ run: (PostgreSQLConnection.Command) throws -> PostgreSQLResult
    ) throws -> Set<EntityKey> {
      let known = state.withLock { $0.isStarted ? ($0.position, $0.epoch, $0.unknownCount) : nil }
      guard let (position, epoch, unknownCount) = known else { return [] }
      let result = try run(FeedChanges.command(since: position))
      // What was told before is among those that are being told, or observers know it.
      let told = state.withLock { $0.told }
      let changes = try FeedChanges(result, since: position, tables, store: store, except: told)
      // The position may have gone beyond the state that the reading sees since it began. It has not gone back to before it unless the
      // server has.
      let isBehind = changes.isBehind && (mark.map { changes.position.xmax < $0.position.xmax } ?? false)
      if changes.isTrimmed || isBehind || changes.epoch != epoch {
        state.withLock { state in
          // What was told meanwhile must not be noticed as well: that would count for a later one.
          if state.unknownCount == unknownCount { feed.noticeUnknown(.any) }
        }
      }
      let unknown = changes.transactions.filter(\.isMore)
      if !unknown.isEmpty {
        // What this store writes to the outbox is announced by whoever writes it.
        let others = state.withLock { state in unknown.filter { !isOwn($0.id, state) } }
        for transaction in others { feed.noticeUnknown(transaction.id) }
      }
      // Own ones that the position is beyond, and whose writer has not come to telling them. They wait to be told before they leave these.
      let passed = state.withLock { Array($0.untold.values) }
      // After the position: what was told meanwhile is among these, or observers know it.
      let waiting = feed.waiting.compactMap(\.keys)
      var keys = waiting.reduce(into: Set<EntityKey>()) { $0.formUnion($1) }
      for transaction in changes.transactions { keys.formUnion(transaction.keys) }
      for passed in passed { keys.formUnion(passed) }
      return keys
    }

    // MARK: Following

    /// Follows from now on.
    func start() {
      let isFirst = state.withLock { state in
        defer { state.isStarted = true }
        return !state.isStarted && !state.isStopped
      }
      guard isFirst else { return }
      let thread = Thread { [weak self, interval = options.pollInterval, wake, id = pool.id] in
        var connection: PostgreSQLConnection?
        var failures = 0
        while true {
          do {
            guard let self, !self.state.withLock({ $0.isStopped }) else { return }
            // This thread has nothing else to do before observers know.
            DirectDelivery.run { connection = ProcessEnd.notDuring { self.follow(connection, &failures) } }
          }
          Self.wait(
            connection, failures == 0 ? interval : min(interval, 0.02 * Double(1 << min(failures, 8))), wake.read, id)
        }
      }
      thread.name = "concord.watch"
      thread.start()
    }

    /// How long this store's own commits, which are told already, wait until the position goes beyond them.
    private static let ownPause = 0.02

    /// - Parameter own: the payload of this store's notifications.
    private static func wait(
      _ connection: PostgreSQLConnection?, _ interval: TimeInterval, _ wake: Int32, _ own: String
    ) {
      if let connection {
        var end = Date(timeIntervalSinceNow: interval)
        var isOwnSeen = false
        while true {
          // A connection that is lost is found out when it is used next.
          guard
            let payloads = try? connection.waitForNotification(max(0, end.timeIntervalSinceNow), interrupt: wake),
            !payloads.isEmpty, payloads.allSatisfy({ $0 == own })
          else { return }
          if !isOwnSeen { end = min(end, Date(timeIntervalSinceNow: ownPause)) }
          isOwnSeen = true
          if end.timeIntervalSinceNow <= 0 { return }
        }
      } else {
        var waiting = pollfd(fd: wake, events: Int16(POLLIN), revents: 0)
        _ = poll(&waiting, 1, Int32(interval * 1000))
      }
    }

    func stop() {
      state.withLock { $0.isStopped = true }
      var byte: UInt8 = 0
      _ = write(wake.write, &byte, 1)
    }

    /// Tells what is new.
    ///
    /// - Returns: the connection to listen with; `nil` if there is none now.
    private func follow(_ connection: PostgreSQLConnection?, _ failures: inout Int) -> PostgreSQLConnection? {
      do {
        var listening = connection
        if listening == nil || listening?.isAlive == false {
          let new = try pool.connect()
          try new.run([.once("LISTEN \(identifier(FeedTables.channel(options.schema)))")] + Self.settings)
          try checkIdentity(new)
          listening = new
        }
        guard let listening else { return nil }
        try tellNew(listening)
        do { try trim(listening) } catch let failure as PostgreSQLFailure where failure.code == "42501" {
          // A role that may not do it leaves it to others.
          lastTrim.withLock { $0 = Date() }
        }
        pool.closeIdle()
        // What could not be read meanwhile can be read again.
        if failures >= Self.mostSilentFailures { tellAny() }
        failures = 0
        return listening
      } catch {
        failures += 1
        // Who shows something learns that it cannot be read.
        if failures == Self.mostSilentFailures, !state.withLock({ $0.isStopped }) {
          tellAny()
        }
        return nil
      }
    }

    /// The end of the index is read, whatever the statistics say of changes that are new: no need to plan that each time.
    static let settings: [PostgreSQLConnection.Command] = [
      .once("SET plan_cache_mode TO force_generic_plan"), .once("SET enable_seqscan TO off"),
    ]

    private static let mostSilentFailures = 3

    /// Tells that everything may have changed.
    private func tellAny(_ note: () -> Void = {}) {
      state.withLock { state in
        state.unknownCount += 1
        feed.willTellUnknown(.any)
      }
      feed.tell([StoreCommit(keys: nil, origin: nil)], note)
    }

    private func checkIdentity(_ connection: PostgreSQLConnection) throws {
      let identity = try Self.identity(connection)
      guard state.withLock({ $0.identity != identity }) else { return }
      let result = try connection.query("SELECT pg_current_snapshot()::text, epoch::text FROM concord_state")
      guard result.count > 0, let position = FeedPosition(result.text(0, 0)) else { return }
      tellAny {
        state.withLock {
          // Only now: a connection that is lost before finds the other identity again.
          $0.identity = identity
          ($0.position, $0.epoch) = (position, result.text(0, 1))
          ($0.told, $0.untold) = ([], [:])
        }
      }
    }

    /// Tells all that is committed and not told yet.
    private func tellNew(_ connection: PostgreSQLConnection) throws {
      try asking.withLock {
        let (position, epoch) = state.withLock { ($0.position, $0.epoch) }
        let result = try connection.run([FeedChanges.command(since: position)])[0]
        // It is not known yet how those end that are not told.
        let told = state.withLock { $0.told }
        let changes = try FeedChanges(result, since: position, tables, store: store, except: told)
        let isWhole = changes.epoch == epoch && !changes.isTrimmed && !changes.isBehind
        let others = state.withLock { state in
          changes.transactions.filter { transaction in
            let id = transaction.id
            if isOwn(id, state) {
              // It is told by now, or will be.
              if state.told.remove(id) == nil { state.untold[id] = transaction.keys }
              return false
            }
            return transaction.isMore || !transaction.keys.isEmpty
          }
        }
        func note() {
          state.withLock { state in
            (state.position, state.epoch) = (changes.position, changes.epoch)
            // Those that have changed nothing are in no feed.
            state.told = state.told.filter { $0.number >= changes.position.xmin && !changes.excepted.contains($0) }
          }
        }
        if !isWhole { return tellAny(note) }
        for transaction in others where transaction.isMore { feed.willTellUnknown(transaction.id) }
        feed.tell(others.map(\.commit), note)
      }
    }

    /// Tells all that is committed so far, as far as the server can be asked.
    func settle() {
      guard position != nil else { return }
      try? pool.with { connection in try tellNew(connection) }
    }

    // MARK: Trimming

    private static let batch = 1000
    private let lastTrim = Locked(Date())

    /// Removes changes that are kept no longer, some at a time.
    private func trim(_ connection: PostgreSQLConnection) throws {
      let pause = min(60, options.feedRetention / 10)
      guard lastTrim.withLock({ -$0.timeIntervalSinceNow >= pause }) else { return }
      var parameters = PostgreSQLParameters()
      parameters.append(options.feedRetention)
      let result = try connection.run([
        .init(
          sql: """
            WITH old AS (
              SELECT ctid FROM concord_changes
              WHERE at < now() - $1 * interval '1 second' AND xid < pg_snapshot_xmin(pg_current_snapshot())
              ORDER BY xid LIMIT \(Self.batch) FOR UPDATE SKIP LOCKED
            ), gone AS (DELETE FROM concord_changes WHERE ctid IN (SELECT ctid FROM old) RETURNING xid)
            UPDATE concord_state SET trimmed = greatest(trimmed, (SELECT xid FROM gone ORDER BY xid DESC LIMIT 1))
            WHERE EXISTS (SELECT 1 FROM gone) RETURNING (SELECT count(*) FROM gone)
            """, parameters: parameters)
      ])[0]
      // There may be more of them.
      if result.count == 0 || result.integer(0, 0) < Int64(Self.batch) { lastTrim.withLock { $0 = Date() } }
    }
  }
#endif
