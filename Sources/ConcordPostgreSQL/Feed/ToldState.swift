#if PostgreSQL
  import ConcordModel
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
    private let wanted = Mutex(Wanted())

    /// A state that somebody will probably read.
    struct Expectation {
      fileprivate let uses: Int
      /// The tables of which changed rows are read ahead.
      let tables: [PostgreSQLTable]
    }

    private struct Wanted {
      /// Whether somebody would have shown the last commits that were told.
      var isState = false
      /// The tables of which changed rows are read ahead.
      var recent = RecentTables()
    }

    // Unchecked, because the compiler cannot see that the connection is used by its thread only.
    private struct Open: @unchecked Sendable {
      let connection: PostgreSQLConnection
      let uses: Int
      let thread = pthread_self()
      /// `nil` until commits are told up to it.
      var position: FeedPosition?
      var rows: [ToldRows] = []
      var isRead = false
    }

    /// Notes that a reading or a commit of this store has ended.
    func noteUse() { uses.add(1, ordering: .sequentiallyConsistent) }

    /// Begins to ask what is new.
    ///
    /// - Returns: `nil` if nobody wants to read the state.
    func begin() -> Expectation? {
      wanted.withLock { wanted in
        guard wanted.isState else { return nil }
        return Expectation(
          uses: uses.load(ordering: .sequentiallyConsistent), tables: wanted.recent.tables)
      }
    }

    /// Keeps a transaction open, in which this thread has asked what is new.
    func keep(_ connection: PostgreSQLConnection, _ expectation: Expectation) {
      open.withLock { $0 = Open(connection: connection, uses: expectation.uses) }
    }

    /// Notes the position of the state, and the rows that were read ahead.
    func isAt(_ position: FeedPosition, _ rows: [ToldRows] = []) {
      open.withLock { open in
        open?.position = position
        open?.rows = rows
      }
    }

    /// The connection on which this thread may read the state.
    ///
    /// - Parameter position: that of the watch.
    func connection(at position: FeedPosition?) -> PostgreSQLConnection? {
      wanted.withLock { $0.isState = true }
      return open.withLock { kept in
        guard let open = kept, pthread_equal(open.thread, pthread_self()) != 0 else { return nil }
        kept?.isRead = true
        guard let position, open.position == position, open.uses == uses.load(ordering: .sequentiallyConsistent) else {
          return nil
        }
        return open.connection
      }
    }

    /// The rows that were read ahead. Rows of some tables are read now, and will be read ahead next time.
    func rows(reading tables: [PostgreSQLTable]) -> [ToldRows] {
      wanted.withLock { $0.recent.note(tables) }
      return open.withLock { $0?.rows ?? [] }
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
      guard hasTold else { return }
      wanted.withLock { wanted in
        if !ended.isRead { wanted.isState = false }
        wanted.recent.noteTold()
      }
    }

    /// Reads no rows ahead until somebody reads some: that may have been what has failed.
    func expectNothing() { wanted.withLock { $0.recent.forget() } }
  }
#endif
