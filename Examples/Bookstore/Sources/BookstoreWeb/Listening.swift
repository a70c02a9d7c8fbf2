package import Foundation
package import Hummingbird
import Logging
package import NIOCore
package import ServiceLifecycle

/// A web server on the loopback interface, and nowhere else.
package struct Listening: Sendable {
  package let url: URL
  private let services: ServiceGroup
  private let running: Task<Void, any Error>

  /// Returns as soon as it listens.
  ///
  /// - Parameters:
  ///   - port: where; any free one, if 0.
  ///   - services: what runs beside it, and is stopped with it.
  ///   - channelHandlers: returns the handlers of one connection.
  ///   - routes: adds what is answered.
  /// - Throws: ``ListeningError``
  package static func start(
    port: UInt16, services: [any Service] = [],
    channelHandlers: @escaping @Sendable () -> [any RemovableChannelHandler] = { [] },
    routes: (Router<BasicRequestContext>) -> Void
  ) async throws -> Listening {
    var logger = Logger(label: "bookstore")
    logger.logLevel = .critical
    let (router, gate) = (Router(), Gate())
    router.add(middleware: gate)
    routes(router)
    // Who knows the port already may ask at once.
    if port != 0 { gate.open(Int(port)) }
    let (outcomes, outcome) = AsyncStream<Result<Int, any Error>>.makeStream()
    let app = Application(
      router: router, server: .http1(configuration: .init(additionalChannelHandlers: channelHandlers())),
      configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: Int(port))), services: services,
      onServerRunning: { channel in
        let port = channel.localAddress?.port ?? 0
        gate.open(port)
        outcome.yield(.success(port))
      }, logger: logger)
    var configuration = ServiceGroupConfiguration(services: [app], logger: logger)
    // Whoever still reads then is cut off.
    configuration.maximumGracefulShutdownDuration = .seconds(1)
    let group = ServiceGroup(configuration: configuration)
    let running = Task {
      do { try await group.run() } catch {
        outcome.yield(.failure(error))
        throw error
      }
    }
    do {
      for await first in outcomes {
        let port = try first.get()
        guard let url = URL(string: "http://127.0.0.1:\(port)") else { break }
        return Listening(url: url, services: group, running: running)
      }
    } catch let error as IOError {
      if error.errnoCode == EADDRINUSE { throw ListeningError.portTaken(port) }
      throw ListeningError.portRefused(port, reason: String(cString: strerror(error.errnoCode)))
    } catch {
      throw ListeningError.portRefused(port, reason: "\(error)")
    }
    throw ListeningError.portRefused(port, reason: "it has no address")
  }

  /// Answers what has begun, for a second at most.
  package func stop() async {
    await services.triggerGracefulShutdown()
    _ = await running.result
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
