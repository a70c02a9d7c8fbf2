#if Server
  import Concord
  import Hummingbird
  import NIOCore

  /// Reads requests of clients and writes answers to them, and gives up where one takes too long.
  enum SlowClient {
    struct Failure: Error {}

    /// Reads the body of a request.
    ///
    /// - Throws: ``Failure`` if it takes longer than a limit; what the body throws if it is too large.
    static func read(_ body: RequestBody, upTo size: Int, within limit: Duration) async throws -> [UInt8] {
      try await withThrowingTaskGroup(of: [UInt8].self) { group in
        group.addTask { try await Array(body.collect(upTo: size).readableBytesView) }
        group.addTask {
          try await Task.sleep(for: limit)
          throw Failure()
        }
        defer { group.cancelAll() }
        return try await group.next() ?? []
      }
    }

    /// The number of bytes that are handed to a connection at once: a client that reads slowly is waited for.
    static var chunk: Int { 65_536 }

    /// The number of chunks after which the writer waits a moment. It learns that the connection takes no more only after the thread of the
    /// connection has tried, and hands over all chunks of a large answer meanwhile, which nobody limits or counts there.
    private static var burst: Int { 4 }

    /// Relies on: this function waits for the task that uses the writer, and does not use it meanwhile.
    private struct Writer: @unchecked Sendable { var writer: any ResponseBodyWriter }

    /// - Parameter limit: the longest time that the client may take to read ``chunk`` bytes.
    /// - Throws: ``Failure``; what the writer throws.
    static func write(_ bytes: [UInt8], within limit: Duration, to writer: any ResponseBodyWriter) async throws {
      let written = Locked(0)
      let shared = Writer(writer: writer)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          var writer = shared.writer
          for start in stride(from: 0, to: bytes.count, by: chunk) {
            try Task.checkCancellation()
            try await writer.write(ByteBuffer(bytes: bytes[start..<min(start + chunk, bytes.count)]))
            let count = written.withLock { count in
              count += 1
              return count
            }
            if count % burst == 0 { try await Task.sleep(for: .milliseconds(1)) }
          }
          // That of all.
          try await Task.sleep(for: .milliseconds(1))
          try await writer.finish(nil)
        }
        group.addTask {
          var last = -1
          while true {
            try await Task.sleep(for: limit)
            let count = written.withLock { $0 }
            if count == last { throw Failure() }
            last = count
          }
        }
        // The connection is closed where this throws.
        defer { group.cancelAll() }
        try await group.next()
      }
    }
  }
#endif
