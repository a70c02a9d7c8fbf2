#if PostgreSQL
  import Concord
  import ConcordModel
  import ConcordPersistence
  import Foundation

  /// A watch that follows what other writers commit, and tells it: a thread with a connection of its own, which listens, and asks when it was
  /// notified or an interval has passed.
  final class PostgreSQLWatch: Sendable {
    let pool: PostgreSQLPool
    let options: PostgreSQLOptions
    let tables: [String: PostgreSQLTable]
    let store: String
    let feed: CommitFeed
    let state: Locked<State>
    /// Held while it is asked what is new, so that each commit is told once.
    let asking = NSLock()
    /// The ends of a pipe: what is written to the second one ends the waiting.
    let wake: (read: Int32, write: Int32)
    /// The notification that wakes other processes.
    let notification: PostgreSQLConnection.Command
    let toldState = ToldState()
    let lastTrim = Locked(Date())

    struct State {
      var position: FeedPosition
      var epoch: String { didSet { lastEpoch = epoch } }
      /// The last epoch that was found, by whomever.
      var lastEpoch: String
      /// The server, as it was when the position was taken.
      var identity: String
      /// Whether tables may be changed of which nothing is told.
      var isBeingFilled = false
      /// Whether there may be changes that a copy has brought: see ``ForeignChanges``.
      var hasForeign = true
      /// The scope of the feed of positions that was found to be complete.
      var completeFeed: String?
      /// Transactions of this store that are told, as they are when they have ended, and are behind the position.
      var told: Set<TransactionID> = []
      /// The transactions before the position that are not told yet, and their keys.
      var untold: [TransactionID: [EntityKey]] = [:]
      /// Connections of this store of whose last transaction it is not known how it has ended.
      var doubted: Set<String> = []
      /// The number of times that it was told that everything may have changed.
      var unknownCount = 0
      var pace = FeedPace()
      /// Whether a reading has looked through many changes of this store that are told, and are behind the position.
      var isFarBehind = false
      var isStarted = false
      var isStopped = false
    }

    /// The knowledge of the watch when a reading began.
    struct Mark {
      /// The position up to which all was told.
      fileprivate let position: FeedPosition
      fileprivate let unknownCount: Int
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
            let (position, epoch) = try Self.now(connection, store)
            return State(position: position, epoch: epoch, lastEpoch: epoch, identity: identity)
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
    /// started, the database, which is another one where it was copied as a template, and the table, which is another one in a database that was
    /// filled from a copy.
    static func identity(_ connection: PostgreSQLConnection) throws -> String {
      try connection.query(
        """
        SELECT system_identifier::text || ':' || CASE WHEN pg_is_in_recovery() THEN ''
          ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END
          || ':' || pg_postmaster_start_time()::text
          || ':' || (SELECT oid FROM pg_database WHERE datname = current_database())::text
          || ':' || 'concord_state'::regclass::oid::text
        FROM pg_control_system()
        """
      ).text(0, 0)
    }

    /// Returns the present position of a database.
    static func now(_ connection: PostgreSQLConnection, _ store: String) throws -> (FeedPosition, epoch: String) {
      let result = try connection.query(
        "SELECT pg_current_snapshot()::text, \(FeedChanges.epoch) FROM concord_state s")
      guard result.count > 0, let position = FeedPosition(result.text(0, 0)) else {
        throw StoreError.damagedStore(store: store, reason: "concord_state has no row")
      }
      return (position, result.text(0, 1))
    }

    // MARK: Own transactions

    /// An id that no transaction has been given yet that this store knows of.
    var nextTransaction: UInt64 { state.withLock { $0.position.xmax } }

    /// The epoch of the feed, as it was found last. It may have another one by now, and not an earlier one.
    var lastEpoch: String { state.withLock { $0.lastEpoch } }

    /// Notes that observers are told of a transaction of this store.
    func didTell(_ id: TransactionID) {
      state.withLock { state in
        guard state.isStarted, state.untold.removeValue(forKey: id) == nil else { return }
        state.told.insert(id)
      }
    }

    /// Notes that it is not known how the last transaction of a connection of this store has ended. If it was committed, it is told as those of
    /// other writers are.
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
    func isOwn(_ id: TransactionID, _ state: State) -> Bool {
      id.session.hasPrefix(pool.id) && !state.doubted.contains(id.session)
    }

    /// The position up to which commits are told; `nil` if nobody follows.
    var position: FeedPosition? { state.withLock { $0.isStarted ? $0.position : nil } }

    /// The mark of a reading that begins now; `nil` if nobody follows.
    var mark: Mark? {
      state.withLock { $0.isStarted ? Mark(position: $0.position, unknownCount: $0.unknownCount) : nil }
    }

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
      if result.count > Self.mostBehind { state.withLock { $0.isFarBehind = true } }
      // What was told before is among those that are being told, or observers know it.
      let told = state.withLock { $0.told }
      let changes = try FeedChanges(result, since: position, tables, store: store, except: told)
      if changes.hasForeign { noteForeign() }
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
      return changes.transactions.reduce(into: untoldBeforePosition) { $0.formUnion($1.keys) }
    }

    /// The keys of what is behind the position and not told yet, or being told.
    var untoldBeforePosition: Set<EntityKey> {
      // Own ones that the position is beyond, and whose writer has not come to telling them. They wait to be told before they leave these.
      let passed = state.withLock { Array($0.untold.values) }
      // After the position: what was told meanwhile is among these, or observers know it.
      let waiting = feed.waiting.compactMap(\.keys)
      let keys = waiting.reduce(into: Set<EntityKey>()) { $0.formUnion($1) }
      return passed.reduce(into: keys) { $0.formUnion($1) }
    }

    /// The number of changes that a reading may have to look through.
    private static let mostBehind = 64

    // MARK: Copies

    /// Notes that there may be changes that a copy has brought. They are removed soon.
    func noteForeign() { state.withLock { $0.hasForeign = true } }

    /// Checks that the rows of tables are kept as they were when they are changed, once for each feed, and again when everything may have changed:
    /// a copy that is being restored has it before that.
    ///
    /// - Parameters:
    ///   - scope: that of the feed.
    ///   - mark: that of the reading. If everything may have changed since, its state may be an earlier one, and says nothing of later ones.
    ///   - check: looks at what the reading sees.
    /// - Returns: whether they are.
    func isFeedComplete(_ scope: String, since mark: Mark?, _ check: () throws -> Bool) throws -> Bool {
      if state.withLock({ $0.completeFeed == scope }) { return true }
      guard try check() else { return false }
      state.withLock { if $0.unknownCount == mark?.unknownCount { $0.completeFeed = scope } }
      return true
    }

    // MARK: Notifying

    /// Whether other processes are notified by somebody else of a commit that comes now, if ``mayNotifyLater()`` says so afterwards.
    var isPausing: Bool { state.withLock { $0.pace.isPausing } }

    /// Leaves the notification of other processes of a commit to the watch's thread.
    ///
    /// - Returns: `false` if it does not do so soon.
    func mayNotifyLater() -> Bool { state.withLock { !$0.isStopped && $0.pace.mayNotifyLater() } }
  }
#endif
