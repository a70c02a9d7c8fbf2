#if Persistence
  import Concord
  import Foundation
  import GRDB
  import GRDBSQLite

  /// A counter of the commits that other stores and processes make to a file. A reader that asks after it began its
  /// transaction knows whether its snapshot contains commits that were not told yet.
  ///
  /// SQLite counts all commits to a file; the store subtracts its own. Asking needs no lock of the file and no system call.
  final class SQLiteCommits: Sendable {
    private let counter: SQLiteCommitCounter
    /// Retained, since its connections keep the counter mapped.
    private let pool: DatabasePool
    private let state: Locked<State>
    /// Held during a commit, until it is known whether SQLite has counted it.
    private let commitLock = NSLock()

    private struct State {
      /// SQLite's counter after the store's own commits and the noticed ones.
      var known: UInt32?
      /// The number of times that commits of other writers were noticed.
      var others = 0

      /// Compares SQLite's counter with the expected one.
      ///
      /// - Returns: the number of times that commits of other writers were noticed.
      mutating func notice(_ count: UInt32?) -> Int {
        // An unknown counter may hide commits.
        if count == nil || count != known { others += 1 }
        known = count
        return others
      }
    }

    /// - Parameter db: the writing connection of the pool.
    init(_ pool: DatabasePool, _ db: Database) {
      self.pool = pool
      counter = SQLiteCommitCounter(db)
      state = Locked(State(known: counter.count))
    }

    /// The number of times that commits of other writers were noticed, including all commits that are visible in a snapshot
    /// taken before the call.
    var others: Int {
      let isKnown = state.withLock { state in
        let count = counter.count
        return count != nil && count == state.known ? state.others : nil
      }
      if let isKnown { return isKnown }
      return commitLock.withLock { notice() }
    }

    /// Returns that number within a transaction that writes, during which no other writer can commit.
    func begin() -> Int { notice() }

    private func notice() -> Int { state.withLock { $0.notice(counter.count) } }

    /// Runs a closure that commits a writing transaction. SQLite counts it if it changed anything.
    func commit(_ db: Database, _ body: () throws -> Void) throws {
      try commitLock.withLock {
        let written = SQLiteCommitCounter.writtenPages(db)
        try body()
        guard SQLiteCommitCounter.writtenPages(db) != written else { return }
        state.withLock { state in state.known = state.known.map { $0 &+ 1 } }
      }
    }
  }

  // Relies on: the index of the write-ahead log stays mapped while a connection of this process is open, and the counter is
  // read only then. All processes that share the index must agree on its header, whatever their versions of SQLite: it begins
  // with the version of its layout, and has the counter of commits at offset 8. Other processes change it at any time; an
  // aligned load of 4 bytes is never torn.
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

    /// SQLite's counter of commits; `nil` for an unknown layout.
    var count: UInt32? {
      // Read from memory with each call.
      @inline(never) get {
        guard let header, header.load(as: UInt32.self) == Self.layout else { return nil }
        return header.load(fromByteOffset: 8, as: UInt32.self)
      }
    }

    /// Returns the number of pages that a connection has written. A commit that changes anything writes at least one.
    static func writtenPages(_ db: Database) -> Int32 {
      var (current, highest): (Int32, Int32) = (0, 0)
      sqlite3_db_status(db.sqliteConnection, SQLITE_DBSTATUS_CACHE_WRITE, &current, &highest, 0)
      return current
    }
  }
#endif
