#if Server
  import Concord
  import Hummingbird
  import NIOCore

  /// Writes answers to clients, and gives up where one reads too slowly.
  enum SlowReader {
    struct Failure: Error {}

    /// The number of bytes that are handed to a connection at once: a client that reads slowly is waited for.
    static var chunk: Int { 65_536 }

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
            written.withLock { $0 += 1 }
          }
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
