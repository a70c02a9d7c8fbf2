#if Persistence
  import Concord
  import Dispatch
  import Foundation

  /// A watch for writes of other stores and processes, each told as a commit with unknown changes.
  final class SQLiteWatch: Sendable {
    private let commits: SQLiteCommits
    private let feed: Feed<StoreCommit>
    private let uses: SQLiteUses
    private let guardian: SQLiteGuard
    private let state: Locked<State>

    private struct State {
      var timer: (any DispatchSourceTimer)?
      var isStopped = false
      /// Whether the watch was told that the file is gone.
      var isGone = false
      /// The number of noticed commits of other writers that were told.
      var told: Int
    }

    private static let interval = DispatchTimeInterval.milliseconds(30)

    init(_ commits: SQLiteCommits, _ feed: Feed<StoreCommit>, _ uses: SQLiteUses, _ guardian: SQLiteGuard) {
      self.commits = commits
      self.feed = feed
      self.uses = uses
      self.guardian = guardian
      // Commits before the first look are told by it.
      state = Locked(State(told: commits.others))
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
      guard uses.enter() else { return }
      let others = commits.others
      uses.leave()
      let isNew = state.withLock { state in
        defer { state.told = others }
        return state.told != others && !state.isStopped
      }
      if isNew { feed.tell(StoreCommit(keys: nil, origin: nil)) }
    }

    /// Tells observers that the file is gone: their reads now throw the cause. A new file of that name is not read.
    private func tellGone() {
      let isNew = state.withLock { state in
        defer { state.isGone = true }
        return !state.isGone && !state.isStopped
      }
      if isNew { feed.tell(StoreCommit(keys: nil, origin: nil)) }
    }
  }
#endif
