#if Tool
  import Concord
  import Dispatch
  import Foundation

  /// The handling of ^C: running work ends with an error, so that a transaction is rolled back and the file closed. Work that
  /// does not end within a time ends with the process, which the file survives, too.
  enum Interruption {
    private static let state = Locked(State())

    private struct State {
      var signal: Int32?
      /// A closure that cancels the running statement.
      var cancel: (@Sendable () -> Void)?
      var sources: [any DispatchSourceSignal] = []
    }

    private static let patience = DispatchTimeInterval.seconds(3)

    /// The exit code of a process that a signal has ended, as shells report it; `nil` without a signal.
    static var code: Int32? { state.withLock { $0.signal.map { 128 + $0 } } }

    /// Begins to handle signals.
    static func take() {
      for number in [SIGINT, SIGTERM] {
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: DispatchQueue(label: "concord.signals"))
        source.setEventHandler { interrupt(number) }
        source.resume()
        state.withLock { $0.sources.append(source) }
      }
    }

    private static func interrupt(_ number: Int32) {
      let (isFirst, cancel) = state.withLock { state in
        defer { state.signal = state.signal ?? number }
        return (state.signal == nil, state.cancel)
      }
      // The running statement of the connection fails. A server that does not answer is not waited for.
      DispatchQueue.global().async { cancel?() }
      guard isFirst else { Foundation.exit(128 + number) }
      DispatchQueue.global().asyncAfter(deadline: .now() + patience) { Foundation.exit(128 + number) }
    }

    /// Runs `body`, during which a signal ends the running statement of a connection.
    static func interrupting<R>(_ cancel: @escaping @Sendable () -> Void, _ body: () throws -> R) throws -> R {
      state.withLock { $0.cancel = cancel }
      defer { state.withLock { $0.cancel = nil } }
      try check()
      return try body()
    }

    /// Throws after a signal, for work outside of statements.
    static func check() throws {
      if code != nil { throw ToolError(.interrupted, "interrupted") }
    }
  }
#endif
