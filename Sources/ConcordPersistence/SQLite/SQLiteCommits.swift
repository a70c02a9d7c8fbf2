#if Persistence
  import Concord
  import Foundation
  import GRDB
  import GRDBSQLite

  /// Tells the commits of a store from those of others, other processes among them: a reader asks after its snapshot was taken, and knows
  /// then whether what it reads contains anything that is not told yet.
  ///
  /// SQLite counts the commits to a file, and a store knows by how much its own have counted up. Asking takes no lock of the file and no
  /// call of the system.
  final class SQLiteCommits: Sendable {
    private let counter: SQLiteCommitCounter
    private let state: Locked<State>
    /// Held while a commit counts up, which is known only afterwards.
    private let commitLock = NSLock()

    private struct State {
      /// The counter as the store's own commits and those that were noticed have left it.
      var known: UInt32?
      /// How often commits of others were noticed.
      var others = 0

      /// - Returns: how often commits of others were noticed.
      mutating func notice(_ count: UInt32?) -> Int {
        // Where it is not known, any might have been.
        if count == nil || count != known { others += 1 }
        known = count
        return others
      }
    }

    /// - Parameter db: a connection that stays open.
    init(_ db: Database) {
      counter = SQLiteCommitCounter(db)
      state = Locked(State(known: counter.count))
    }

    /// How often commits of others were noticed, with all that a snapshot contains which was taken before.
    var others: Int {
      let isKnown = state.withLock { state in
        let count = counter.count
        return count != nil && count == state.known ? state.others : nil
      }
      if let isKnown { return isKnown }
      return commitLock.withLock { notice() }
    }

    /// The same within a transaction that writes.
    func begin() -> Int { notice() }

    private func notice() -> Int { state.withLock { $0.notice(counter.count) } }

    /// Commits a transaction that writes, which counts up once if it has changed anything.
    func commit(_ db: Database, _ body: () throws -> Void) throws {
      try commitLock.withLock {
        let written = SQLiteCommitCounter.writtenPages(db)
        try body()
        guard SQLiteCommitCounter.writtenPages(db) != written else { return }
        state.withLock { state in state.known = state.known.map { $0 &+ 1 } }
      }
    }
  }

  // Relies on: the memory of the write-ahead log's index, which all processes with the file share, is mapped as long as a connection of
  // this process is open, and it is asked only while one is. Whatever their versions of SQLite, they have to agree on its first 48 bytes,
  // which begin with the version of this layout, and have the counter of commits at 8. What is read may change at any time: a number of
  // 4 bytes at a multiple of 4 is read as a whole.
  private struct SQLiteCommitCounter: @unchecked Sendable {
    private let header: UnsafeRawPointer?
    private static let layout: UInt32 = 3_007_000

    init(_ db: Database) {
      var file: UnsafeMutablePointer<sqlite3_file>?
      var memory: UnsafeMutableRawPointer?
      let size: Int32 = 32_768
      guard sqlite3_file_control(db.sqliteConnection, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file,
        let methods = file.pointee.pMethods?.pointee, methods.iVersion >= 2, let map = methods.xShmMap,
        map(file, 0, size, 0, &memory) == SQLITE_OK
      else {
        header = nil
        return
      }
      header = memory.map { UnsafeRawPointer($0) }
    }

    /// `nil` if it cannot be known.
    var count: UInt32? {
      // Read from memory with each call.
      @inline(never) get {
        guard let header, header.load(as: UInt32.self) == Self.layout else { return nil }
        return header.load(fromByteOffset: 8, as: UInt32.self)
      }
    }

    /// How many pages a connection has written so far. A commit that changes anything writes one at least.
    static func writtenPages(_ db: Database) -> Int32 {
      var (current, highest): (Int32, Int32) = (0, 0)
      sqlite3_db_status(db.sqliteConnection, SQLITE_DBSTATUS_CACHE_WRITE, &current, &highest, 0)
      return current
    }
  }
#endif
