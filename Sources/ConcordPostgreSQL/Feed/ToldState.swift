#if PostgreSQL
  import ConcordModel
  import Foundation
  import Synchronization

  /// The committed state up to which the watch is telling commits: who shows them need not ask anew what has changed since.
  ///
  /// Its transaction stays open while they are told, unless those who showed the last ones had enough of the rows that were read ahead.
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
      /// Whether the transaction stays open.
      let isKeptOpen: Bool
    }

    private struct Wanted {
      /// Whether somebody would have shown the last commits that were told.
      var isState = false
      /// The tables of which changed rows are read ahead.
      var recent = RecentTables()
      /// The number of states since one of which more was read than the rows that were read ahead.
      var statesSinceReading = 0
    }

    // Unchecked, because the compiler cannot see that the connection is used by its thread only.
    private struct Open: @unchecked Sendable {
      let connection: PostgreSQLConnection
      let expectation: Expectation
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
          uses: uses.load(ordering: .sequentiallyConsistent), tables: wanted.recent.tables,
          isKeptOpen: wanted.statesSinceReading < Self.mostOpen)
      }
    }

    /// Keeps the state in which this thread has asked what is new.
    func keep(_ connection: PostgreSQLConnection, _ expectation: Expectation) {
      open.withLock { $0 = Open(connection: connection, expectation: expectation) }
    }

    /// Notes the position of the state, and the rows that were read ahead.
    func isAt(_ position: FeedPosition, _ rows: [ToldRows] = []) {
      open.withLock { open in
        open?.position = position
        open?.rows = rows
      }
    }

    /// The connection on which this thread may read the state, and whether its transaction is open.
    ///
    /// - Parameter position: that of the watch.
    func connection(at position: FeedPosition?) -> (connection: PostgreSQLConnection, isOpen: Bool)? {
      wanted.withLock { $0.isState = true }
      return open.withLock { kept in
        guard let open = kept, pthread_equal(open.thread, pthread_self()) != 0 else { return nil }
        kept?.isRead = true
        let expectation = open.expectation
        guard let position, open.position == position,
          expectation.uses == uses.load(ordering: .sequentiallyConsistent)
        else { return nil }
        return (open.connection, expectation.isKeptOpen)
      }
    }

    /// Notes that more was to be read than the rows that were read ahead.
    func noteReading() { wanted.withLock { $0.statesSinceReading = 0 } }

    /// The rows that were read ahead. Rows of some tables are read now, and will be read ahead next time.
    func rows(reading tables: [PostgreSQLTable]) -> [ToldRows] {
      wanted.withLock { $0.recent.note(tables) }
      return open.withLock { $0?.rows ?? [] }
    }

    /// Ends the transaction, if it is open, when all is told.
    ///
    /// - Parameter hasTold: whether there was something to show.
    func end(hasTold: Bool) {
      let ended = open.withLock { open in
        defer { open = nil }
        return open
      }
      guard let ended else { return }
      if ended.expectation.isKeptOpen { try? ended.connection.finish(.end) }
      guard hasTold else { return }
      wanted.withLock { wanted in
        if !ended.isRead { wanted.isState = false }
        wanted.recent.noteTold()
        wanted.statesSinceReading += 1
      }
    }

    /// The number of states without a reading after which the transaction stays open no longer. What reads more than was read ahead then begins anew,
    /// which costs a live query with many entities a fetch of them all.
    static let mostOpen = 64

    /// Reads no rows ahead until somebody reads some: that may have been what has failed.
    func expectNothing() { wanted.withLock { $0.recent.forget() } }
  }
#endif
