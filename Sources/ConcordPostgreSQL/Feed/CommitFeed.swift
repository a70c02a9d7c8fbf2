#if PostgreSQL
  import Concord
  import ConcordModel
  import ConcordPersistence

  /// The commits that a store tells its observers, with those that it is telling at the moment: their rows can be read already.
  final class CommitFeed: Sendable {
    private let feed: Feed<Event>
    private let state: Locked<State>

    private struct Event {
      let commit: StoreCommit
      let number: Int
    }

    private struct State {
      /// The commits that not all observers were called for, by their numbers.
      var waiting: [Int: StoreCommit] = [:]
      var lastNumber = 0
      /// The number of noticed commits with unknown changes.
      var unknown = 0
      /// The transactions among them that are not told yet.
      var noticed: Set<TransactionID> = []
    }

    init() {
      let state = Locked(State())
      self.state = state
      feed = Feed(label: "concord.commits", didTell: { event in state.withLock { $0.waiting[event.number] = nil } })
    }

    // MARK: Telling

    /// Tells commits. They are among those that are being told before a closure is called, which notes how far all is told.
    func tell(_ commits: [StoreCommit], _ note: () -> Void = {}) {
      let events = state.withLock { state in
        commits.map { commit in
          state.lastNumber += 1
          state.waiting[state.lastNumber] = commit
          return Event(commit: commit, number: state.lastNumber)
        }
      }
      note()
      for event in events { feed.tell(event) }
    }

    /// The changes of the commits that are being told.
    var waiting: [StoreCommit] { state.withLock { Array($0.waiting.values) } }

    // MARK: Unknown changes

    /// The number of times that commits with unknown changes were noticed.
    var unknownCommits: Int { state.withLock { $0.unknown } }

    /// Notes that a reading sees a transaction whose changes are not known.
    func noticeUnknown(_ id: TransactionID) {
      state.withLock { if $0.noticed.insert(id).inserted { $0.unknown += 1 } }
    }

    /// Notes that such a transaction is told.
    func willTellUnknown(_ id: TransactionID) {
      state.withLock { if $0.noticed.remove(id) == nil { $0.unknown += 1 } }
    }

    // MARK: Observing

    func observe(
      where isConcerned: @escaping @Sendable (StoreCommit) -> Bool = { _ in true },
      _ body: @escaping @Sendable (StoreCommit) -> Void
    ) -> StoreObservation {
      feed.observe(where: { isConcerned($0.commit) }) { body($0.commit) }
    }

    func settle() { feed.settle() }
  }
#endif
