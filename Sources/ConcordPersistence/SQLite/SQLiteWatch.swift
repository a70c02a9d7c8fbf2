#if Persistence
  import Concord
  import Dispatch
  import GRDB

  /// Looks whether another process has written to the file, and tells it as a commit of which nothing is known.
  ///
  /// SQLite says so itself: `data_version`, asked on the connection that writes here, changes with each commit of another one.
  /// It is a number in memory that the processes share, so that asking for it costs some microseconds.
  final class SQLiteWatch: Sendable {
    private let pool: DatabasePool
    private let feed: Feed<StoreCommit>
    private let state = Locked(State())

    private struct State {
      var timer: (any DispatchSourceTimer)?
      var isStopped = false
      var isLooking = false
      var version: Int?
    }

    private static let interval = DispatchTimeInterval.milliseconds(30)

    init(_ pool: DatabasePool, _ feed: Feed<StoreCommit>) {
      self.pool = pool
      self.feed = feed
    }

    deinit { stop() }

    /// Looks from now on.
    func start() {
      state.withLock { state in
        guard state.timer == nil, !state.isStopped else { return }
        let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "concord.watch"))
        timer.setEventHandler { [weak self] in self?.look() }
        timer.schedule(deadline: .now(), repeating: Self.interval, leeway: .milliseconds(10))
        timer.resume()
        state.timer = timer
      }
    }

    func stop() {
      state.withLock { state in
        state.timer?.cancel()
        state.timer = nil
        state.isStopped = true
      }
    }

    private func look() {
      // While a long write goes on, one waits for it, not many.
      let isFirst = state.withLock { state in
        defer { state.isLooking = true }
        return !state.isLooking && !state.isStopped
      }
      guard isFirst else { return }
      pool.asyncWriteWithoutTransaction { [weak self] db in
        let version = try? Int.fetchOne(db.cachedStatement(sql: "PRAGMA data_version"))
        self?.didLook(version)
      }
    }

    private func didLook(_ version: Int?) {
      let isChanged = state.withLock { state in
        state.isLooking = false
        guard let version else { return false }
        defer { state.version = version }
        return state.version != nil && state.version != version
      }
      if isChanged { feed.tell(StoreCommit(keys: nil, origin: nil)) }
    }
  }
#endif
