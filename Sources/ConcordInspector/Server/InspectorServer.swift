#if Inspector
  import Concord
  import FlyingFox
  import FlyingSocks
  import Foundation

  /// Serves the page and its answers, on the loopback interface, to those who know the token.
  final class InspectorServer: Sendable {
    let url: URL
    /// The server that runs; `nil` after the end.
    private let serving: Locked<HTTPServer?>
    private let running: Task<Void, Never>

    /// - Parameter port: the port; any free one, if 0.
    /// - Throws: ``InspectorError/unavailable(_:)`` if the port cannot be had.
    init(_ reader: StoreReader, port: UInt16) async throws(InspectorError) {
      let gate = InspectorGate()
      let routes = InspectorRoutes(reader, gate)
      var begun: Task<Void, Never>?
      do {
        let server = try await Self.server(routes, port: port)
        let serving = Locked<HTTPServer?>(server)
        let failure = Locked<(any Error)?>(nil)
        let running = Task {
          do { try await server.run() } catch { failure.withLock { $0 = error } }
          await Self.serveAgain(routes, gate, serving)
        }
        (self.serving, self.running) = (serving, running)
        begun = running
        // Not `waitUntilListening`, which waits for seconds where the port is taken.
        while await !server.isListening {
          if let error = failure.withLock({ $0 }) { throw error }
          try await Task.sleep(for: .milliseconds(2))
        }
        // It may have listened before this task has waited even once.
        try Task.checkCancellation()
        guard case .ip4(_, let port)? = await server.listeningAddress,
          let url = URL(string: "http://127.0.0.1:\(port)/\(gate.token)/")
        else { throw SocketError.disconnected }
        gate.port = port
        self.url = url
      } catch {
        // An object that was not made has no end that would stop what it has begun.
        if let begun {
          begun.cancel()
          await begun.value
        }
        if error is CancellationError { throw .unavailable("the task that asked for the inspector was cancelled") }
        throw .unavailable("the inspector cannot listen on port \(port): \(error)")
      }
    }

    private static func server(_ routes: InspectorRoutes, port: UInt16) async throws -> HTTPServer {
      let server = HTTPServer(address: try .inet(ip4: "127.0.0.1", port: port), logger: .disabled)
      await server.appendRoute("*") { await routes.response(to: $0) }
      return server
    }

    /// Serves at the same port after an error, until the end: a server gives up when it cannot take a connection, such as when the
    /// program has too many open files.
    private static func serveAgain(
      _ routes: InspectorRoutes, _ gate: InspectorGate, _ serving: Locked<HTTPServer?>
    ) async {
      while gate.port > 0, !Task.isCancelled {
        try? await Task.sleep(for: .milliseconds(200))
        guard let server = try? await server(routes, port: gate.port) else { return }
        let isWanted = serving.withLock { serving in
          guard serving != nil else { return false }
          serving = server
          return true
        }
        guard isWanted, !Task.isCancelled else { return }
        try? await server.run()
      }
    }

    func stop() async {
      await serving.withLock { $0.take() }?.stop()
      running.cancel()
    }

    deinit { running.cancel() }
  }
#endif
