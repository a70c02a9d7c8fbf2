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
      let isLate = Locked(false)
      let reading = Task { try await Array(body.collect(upTo: size).readableBytesView) }
      let deadline = Deadlines.shared.call(after: limit) {
        isLate.withLock { $0 = true }
        reading.cancel()
      }
      defer { withExtendedLifetime(deadline) {} }
      let result = await withTaskCancellationHandler {
        await reading.result
      } onCancel: {
        reading.cancel()
      }
      if isLate.withLock({ $0 }) { throw Failure() }
      return try result.get()
    }

    /// The number of bytes that are handed to a connection at once: a client that reads slowly is waited for.
    static var chunk: Int { 65_536 }

    /// The number of chunks after which the writer waits a moment. It learns that the connection takes no more only after the thread of the
    /// connection has tried, and hands over all chunks of a large answer meanwhile, which nobody limits or counts there.
    static var burst: Int { 4 }

    /// Relies on: this function waits for the task that uses the writer, and does not use it meanwhile.
    private struct Writer: @unchecked Sendable { var writer: any ResponseBodyWriter }

    /// - Parameter limit: the longest time that the client may take to read ``chunk`` bytes.
    /// - Throws: ``Failure``; what the writer throws.
    static func write(_ bytes: [UInt8], within limit: Duration, to writer: any ResponseBodyWriter) async throws {
      let watch = Watch(limit)
      let shared = Writer(writer: writer)
      let writing = Task {
        var writer = shared.writer
        for (number, start) in stride(from: 0, to: bytes.count, by: chunk).enumerated() {
          try Task.checkCancellation()
          try await writer.write(ByteBuffer(bytes: bytes[start..<min(start + chunk, bytes.count)]))
          watch.note()
          if number % burst == burst - 1 { try await Task.sleep(for: .milliseconds(1)) }
        }
        // That of all.
        try await Task.sleep(for: .milliseconds(1))
        try await writer.finish(nil)
      }
      watch.begin { writing.cancel() }
      defer { watch.end() }
      // The connection is closed where this throws.
      try await withTaskCancellationHandler {
        try await writing.value
      } onCancel: {
        writing.cancel()
      }
    }

    /// Calls a closure when nothing has been noted for some time.
    private final class Watch: Sendable {
      private struct State {
        var count = 0
        var seen = 0
        var deadline: Deadlines.Deadline?
        /// The number of the last deadline, since one may pass before it is kept.
        var number = 0
        var isEnded = false
      }

      private let state = Locked(State())
      private let limit: Duration

      init(_ limit: Duration) { self.limit = limit }

      func note() { state.withLock { $0.count += 1 } }

      func begin(_ body: @escaping @Sendable () -> Void) {
        let number = state.withLock { state in
          state.number += 1
          return state.number
        }
        let deadline = Deadlines.shared.call(after: limit) { [self] in
          let hasMoved = state.withLock { state in
            defer { state.seen = state.count }
            return state.seen != state.count
          }
          if hasMoved { begin(body) } else { body() }
        }
        let earlier = state.withLock { state -> Deadlines.Deadline? in
          guard !state.isEnded, state.number == number else { return nil }
          defer { state.deadline = deadline }
          return state.deadline
        }
        withExtendedLifetime((earlier, deadline)) {}
      }

      func end() {
        let deadline = state.withLock { state in
          defer { (state.deadline, state.isEnded) = (nil, true) }
          return state.deadline
        }
        withExtendedLifetime(deadline) {}
      }
    }
  }
#endif
