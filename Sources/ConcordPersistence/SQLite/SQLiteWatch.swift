#if Persistence
  import Concord
  import Dispatch
  import Foundation
  import GRDB

  /// Looks whether another process has written to the file, and tells it as a commit of which nothing is known.
  ///
  /// SQLite says so itself: `data_version`, asked on the connection that writes here, changes with each commit of another one.
  /// It is asked only after the log was written to, by whomever, which the date of that file tells for next to nothing.
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
      /// When the log was written to, before the version was asked.
      var date: Double?
      /// When that was looked at.
      var lookedAt = 0.0
    }

    private static let interval = DispatchTimeInterval.milliseconds(30)
    /// Two writes that are closer may have the same date: some disks keep whole seconds, or even ones, only.
    private static func precision(of date: Double) -> Double { date == date.rounded() ? 2 : 0.1 }

    /// - Parameter dataVersion: that of the file when it was opened, so that nothing is missed which others write before the first look.
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

    /// What the connection that writes knows of commits by others: it changes with each.
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
        // What was written since that look may have its date, however late it is now.
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

    /// What is shown cannot be read any longer: who reads it now is told why. Another file is none of its business.
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
