#if PostgreSQL
  import CCores
  import CLibPQ
  import Foundation

  /// This process and the connections of the server on one core, as long as the object lives.
  ///
  /// A statement that takes microseconds changes from one process to another and back. Where the kernel puts the two on two cores, it waits
  /// for a core to wake up: the same statement takes 26 or 73 µs, as it happens. Linux alone can do this, for a user who may touch the server.
  final class OneCore {
    init(_ raw: RawConnection) throws {
      let core = concord_core()
      for process in Self.threads + (try Self.backends(raw)) { _ = concord_keep_on_core(process, core) }
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
