#if Persistence
  import Concord
  import Dispatch
  import Foundation
  import GRDB

  /// A watch for writes of other processes, each told as a commit with unknown changes.
  ///
  /// SQLite's `data_version`, read on this process's writing connection, changes with each commit of another
  /// connection. It is read only after a write to the log, which the modification date of that file shows at little
  /// cost.
  final class SQLiteWatch: Sendable {
    private let pool: DatabasePool
    private let feed: Feed<StoreCommit>
    private let uses: SQLiteUses
    private let guardian: SQLiteGuard
    private let state = Locked(State())

    private struct State {
      var timer: (any DispatchSourceTimer)?
      var isStopped = false
      var isLooking = false
      /// Whether it was told that the file is gone.
      var isGone = false
      var version: Int?
      /// The modification date of the log, read before the version.
      var date: Double?
      /// The time at which the date was read.
      var lookedAt = 0.0
    }

    private static let interval = DispatchTimeInterval.milliseconds(30)
    /// Two writes that are closer may have the same date: some disks keep whole seconds, or even ones, only.
    private static func precision(of date: Double) -> Double { date == date.rounded() ? 2 : 0.1 }

    /// - Parameter dataVersion: the `data_version` when the file was opened, so that no commit before the first look is
    ///   missed.
    init(
      _ pool: DatabasePool, _ dataVersion: Int?, _ feed: Feed<StoreCommit>, _ uses: SQLiteUses,
      _ guardian: SQLiteGuard
    ) {
      self.pool = pool
      self.feed = feed
      self.uses = uses
      self.guardian = guardian
      state.withLock { $0.version = dataVersion }
    }

    /// Returns a number that changes with each commit of another connection.
    static func dataVersion(_ db: Database) throws -> Int? {
      try Int.fetchOne(db.cachedStatement(sql: "PRAGMA data_version"))
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
      guard guardian.isIntact else { return tellGone() }
      let date = dateOfLog()
      let now = Date().timeIntervalSince1970
      let mustAsk = state.withLock { state in
        // While a long write goes on, one waits for it, not many.
        if state.isLooking || state.isStopped { return false }
        // A write since that look may have the same date.
        if let date, date == state.date, state.lookedAt - date > Self.precision(of: date) { return false }
        (state.date, state.lookedAt) = (date, now)
        state.isLooking = true
        return true
      }
      guard mustAsk, uses.enter() else { return }
      pool.asyncWriteWithoutTransaction { [weak self, uses] db in
        defer { uses.leave() }
        self?.didLook(try? Self.dataVersion(db))
      }
    }

    /// Tells observers that the file is gone: their reads now throw the cause. A new file of that name is not read.
    private func tellGone() {
      let isNew = state.withLock { state in
        defer { state.isGone = true }
        return !state.isGone && !state.isStopped
      }
      if isNew { feed.tell(StoreCommit(keys: nil, origin: nil)) }
    }

    /// `nil` if that cannot be known.
    private func dateOfLog() -> Double? {
      var status = stat()
      guard stat("\(pool.path)-wal", &status) == 0 else { return nil }
      #if canImport(Darwin)
        let date = status.st_mtimespec
      #else
        let date = status.st_mtim
      #endif
      return Double(date.tv_sec) + Double(date.tv_nsec) / 1_000_000_000
    }

    private func didLook(_ version: Int?) {
      let isChanged = state.withLock { state in
        state.isLooking = false
        guard let version else {
          // It could not be asked, and is the next time.
          state.date = nil
          return false
        }
        defer { state.version = version }
        return state.version != nil && state.version != version
      }
      if isChanged { feed.tell(StoreCommit(keys: nil, origin: nil)) }
    }
  }
#endif
