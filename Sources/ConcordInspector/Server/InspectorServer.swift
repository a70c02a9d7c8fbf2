#if Inspector
  import Concord
  import FlyingFox
  import FlyingSocks
  import Foundation

  /// Serves the page and its answers, on the loopback interface, to those who know the token.
  final class InspectorServer: Sendable {
    let url: URL
    private let server: HTTPServer
    private let running: Task<Void, Never>

    /// - Parameter port: the port; any free one, if 0.
    /// - Throws: ``InspectorError/unavailable(_:)`` if the port cannot be had.
    init(_ reader: StoreReader, port: UInt16) async throws(InspectorError) {
      let gate = InspectorGate()
      var begun: Task<Void, Never>?
      do {
        let server = HTTPServer(address: try .inet(ip4: "127.0.0.1", port: port), logger: .disabled)
        let routes = InspectorRoutes(reader, gate)
        await server.appendRoute("*") { await routes.response(to: $0) }
        let failure = Locked<(any Error)?>(nil)
        let running = Task {
          do { try await server.run() } catch { failure.withLock { $0 = error } }
        }
        (self.server, self.running) = (server, running)
        begun = running
        // Not `waitUntilListening`, which waits for seconds where the port is taken.
        while await !server.isListening {
          if let error = failure.withLock({ $0 }) { throw error }
          try await Task.sleep(for: .milliseconds(2))
        }
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

    func stop() async {
      await server.stop()
      running.cancel()
    }

    deinit { running.cancel() }
  }
#endif
