#if Persistence
  import Concord

  /// Facts about a file that most writes need and few change. They are read once, and kept until another store or process commits.
  struct SQLiteFacts: Sendable {
    /// The latest stamp of all remembered deletions; `nil` until that is read.
    var latestDeletion: Stamp??
    /// Whether the file has entries of unique values; `nil` until that is read.
    var hasUniqueKeys: Bool?

    /// The facts that the last commit of a store has left.
    final class Memory: Sendable {
      private let state = Locked((facts: SQLiteFacts(), others: 0))

      /// Returns the facts, which are empty if other writers have committed since they were kept.
      ///
      /// - Parameter others: how often commits of other writers were noticed: see ``SQLiteCommits``.
      func facts(_ others: Int) -> SQLiteFacts { state.withLock { $0.others == others ? $0.facts : SQLiteFacts() } }

      /// Keeps the facts of a transaction that has committed.
      func keep(_ facts: SQLiteFacts, _ others: Int) { state.withLock { $0 = (facts, others) } }
    }
  }
#endif
