#if PostgreSQL
  import Foundation
  import Synchronization

  /// The committed state up to which the watch is telling commits: its transaction stays open while they are told, so that who shows them
  /// need not ask anew what has changed since.
  ///
  /// It serves as long as nobody can have seen a later state: a view must never go back. So it ends with the first reading or commit of this
  /// store that has ended since it was asked for.
  final class ToldState: Sendable {
    /// The number of readings and commits of this store that have ended.
    private let uses = Atomic<Int>(0)
    private let open = Mutex<Open?>(nil)
    /// Whether somebody would have shown the last commits that were told.
    private let isWanted = Atomic<Bool>(false)

    // Unchecked, because the compiler cannot see that the connection is used by its thread only.
    private struct Open: @unchecked Sendable {
      let connection: PostgreSQLConnection
      let uses: Int
      let thread = pthread_self()
      /// `nil` until commits are told up to it.
      var position: FeedPosition?
      var isRead = false
    }

    /// Notes that a reading or a commit of this store has ended.
    func noteUse() { uses.add(1, ordering: .sequentiallyConsistent) }

    /// The number of uses, before it is asked what is new; `nil` if nobody wants to read the state.
    func begin() -> Int? { isWanted.load(ordering: .relaxed) ? uses.load(ordering: .sequentiallyConsistent) : nil }

    /// Keeps a transaction open, in which this thread has asked what is new.
    func keep(_ connection: PostgreSQLConnection, uses: Int) {
      open.withLock { $0 = Open(connection: connection, uses: uses) }
    }

    /// Notes the position of the state.
    func isAt(_ position: FeedPosition) { open.withLock { $0?.position = position } }

    /// The connection on which this thread may read the state.
    ///
    /// - Parameter position: that of the watch.
    func connection(at position: FeedPosition?) -> PostgreSQLConnection? {
      isWanted.store(true, ordering: .relaxed)
      return open.withLock { kept in
        guard let open = kept, pthread_equal(open.thread, pthread_self()) != 0 else { return nil }
        kept?.isRead = true
        guard let position, open.position == position, open.uses == uses.load(ordering: .sequentiallyConsistent) else {
          return nil
        }
        return open.connection
      }
    }

    /// Ends the transaction, when all is told.
    ///
    /// - Parameter hasTold: whether there was something to show.
    func end(hasTold: Bool) {
      let ended = open.withLock { open in
        defer { open = nil }
        return open
      }
      guard let ended else { return }
      try? ended.connection.finish("COMMIT")
      if hasTold, !ended.isRead { isWanted.store(false, ordering: .relaxed) }
    }
  }
#endif
