#if PostgreSQL
  import CLibPQ

  #if canImport(Darwin)
    import Darwin
  #else
    import Glibc
  #endif

  /// A connection of libpq, by hand: prepared statements, binary parameters and results.
  final class RawConnection {
    private let handle: OpaquePointer?
    private var prepared: Set<String> = []

    init(_ connection: String) throws {
      handle = PQconnectdb(connection)
      try expect(PQstatus(handle) == CONNECTION_OK, String(cString: PQerrorMessage(handle)))
    }

    deinit { PQfinish(handle) }

    func run(_ sql: String) throws { PQclear(try checked(PQexec(handle, sql))) }

    /// Runs a statement that is prepared once. The result is the caller's.
    func run(_ sql: String, _ types: [UInt32], _ values: [[UInt8]]) throws -> OpaquePointer? {
      let name = "s\(sql.hashValue)"
      if prepared.insert(sql).inserted {
        PQclear(try checked(PQprepare(handle, name, sql, Int32(types.count), types)))
      }
      let lengths = values.map { Int32($0.count) }
      let formats = values.map { _ in Int32(1) }
      return try withPointers(values[...]) { pointers in
        try checked(PQexecPrepared(handle, name, Int32(values.count), pointers, lengths, formats, 1))
      }
    }

    private func withPointers<R>(
      _ values: ArraySlice<[UInt8]>, _ pointers: [UnsafePointer<CChar>?] = [],
      _ body: ([UnsafePointer<CChar>?]) throws -> R
    ) rethrows -> R {
      guard let first = values.first else { return try body(pointers) }
      return try first.withUnsafeBytes { bytes in
        try withPointers(
          values.dropFirst(), pointers + [bytes.baseAddress?.assumingMemoryBound(to: CChar.self)], body)
      }
    }

    /// Waits for a notification.
    func wait() throws {
      while true {
        if let notification = PQnotifies(handle) {
          PQfreemem(notification)
          return
        }
        var waiting = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
        try expect(poll(&waiting, 1, 10_000) > 0, "no notification came")
        PQconsumeInput(handle)
      }
    }

    private func checked(_ result: OpaquePointer?) throws -> OpaquePointer? {
      let status = PQresultStatus(result)
      guard status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK else {
        PQclear(result)
        throw WrongResult(description: String(cString: PQerrorMessage(handle)))
      }
      return result
    }
  }
#endif
