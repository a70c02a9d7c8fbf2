#if PostgreSQL
  import CCores
  import CLibPQ
  import Foundation

  /// This process on one core and the connections of the server on it, too, or on another one, as long as the object lives.
  ///
  /// A statement that takes microseconds changes from one process to another and back. Where the kernel puts the two by itself, the same
  /// statement takes 26 or 73 µs, as it happens. Linux alone can do this, for a user who may touch the server.
  final class ToldCores {
    enum Server {
      /// A statement costs the work of both, and no core has to wake up.
      case onTheSameCore
      /// As where the server is another machine: what it does after its answer is not waited for.
      case onAnotherCore
    }

    init(_ server: Server, _ raw: RawConnection) throws {
      let core = concord_core()
      for thread in Self.threads { _ = concord_keep_on_core(thread, core) }
      let other = server == .onTheSameCore || concord_core_count() < 2 ? core : core == 0 ? 1 : 0
      for process in try Self.backends(raw) { _ = concord_keep_on_core(process, other) }
    }

    deinit { for thread in Self.threads { _ = concord_keep_on_core(thread, -1) } }

    private static var threads: [Int32] {
      let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
      return (names ?? []).compactMap { Int32($0) }
    }

    private static func backends(_ raw: RawConnection) throws -> [Int32] {
      let sql = "SELECT pid::text FROM pg_stat_activity WHERE backend_type = 'client backend'"
      let result = try raw.run(sql, [], [])
      defer { PQclear(result) }
      return (0..<PQntuples(result)).compactMap { row in
        PQgetvalue(result, row, 0).flatMap { Int32(String(cString: $0)) }
      }
    }
  }
#endif
