package import FlyingFox
import FlyingSocks
package import Foundation

/// A web server on the loopback interface, and nowhere else.
package struct Listening: Sendable {
  package let server: HTTPServer
  package let running: Task<Void, any Error>
  package let url: URL

  /// Returns as soon as it listens.
  ///
  /// - Parameter port: where; any free one, if 0.
  /// - Throws: ``ListeningError``
  package static func start(
    port: UInt16, _ answer: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
  ) async throws -> Listening {
    let server = HTTPServer(
      address: try .inet(ip4: "127.0.0.1", port: port), pool: promptPool(HTTPServer.defaultPool()), logger: .disabled)
    await server.appendRoute("*") { await answer($0) }
    let (outcomes, outcome) = AsyncStream<Result<Void, any Error>>.makeStream()
    let running = Task {
      do { try await server.run() } catch {
        outcome.yield(.failure(error))
        throw error
      }
    }
    // It waits for ever if the server cannot listen.
    let waiting = Task {
      try await server.waitUntilListening()
      outcome.yield(.success(()))
    }
    defer { waiting.cancel() }
    do {
      for await first in outcomes {
        try first.get()
        break
      }
      guard case .ip4(_, let port)? = await server.listeningAddress, let url = URL(string: "http://127.0.0.1:\(port)")
      else { throw ListeningError.portRefused(port, reason: "it has no address") }
      return Listening(server: server, running: running, url: url)
    } catch let error as SocketError {
      guard case .failed(_, let number, let message) = error else {
        throw ListeningError.portRefused(port, reason: "\(error)")
      }
      if number == EADDRINUSE { throw ListeningError.portTaken(port) }
      throw ListeningError.portRefused(port, reason: message)
    }
  }

  private static func promptPool(_ base: some AsyncSocketPool) -> some AsyncSocketPool { PromptSocketPool(base: base) }

  /// Answers what has begun, for a second at most.
  package func stop() async {
    await server.stop(timeout: 1)
    running.cancel()
  }
}

/// Why a server cannot listen.
package enum ListeningError: Error, Equatable, CustomStringConvertible {
  /// Another program listens there.
  case portTaken(UInt16)
  /// Ports below 1024 often need a privilege.
  case portRefused(UInt16, reason: String)

  package var description: String {
    switch self {
    case .portTaken(let port): "another program listens on port \(port)"
    case .portRefused(let port, let reason): "port \(port) cannot be had: \(reason)"
    }
  }
}
