import Foundation
import Hummingbird
import Logging
import ServiceLifecycle

/// A web server of this process, on a free port of the loopback interface, which is shut down with the object.
final class WebServer: Sendable {
  let url: URL
  let port: Int
  private let services: ServiceGroup
  private let task: Task<Void, any Error>

  init(services: [any Service] = [], _ routes: (Router<BasicRequestContext>) -> Void) throws {
    let router = Router()
    routes(router)
    var logger = Logger(label: "benchmark")
    logger.logLevel = .error
    let found = Kept(0)
    let isRunning = DispatchSemaphore(value: 0)
    let app = Application(
      router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
      services: services,
      onServerRunning: { channel in
        found.withLock { $0 = channel.localAddress?.port ?? 0 }
        isRunning.signal()
      }, logger: logger)
    let group = ServiceGroup(configuration: .init(services: [app], logger: logger))
    (self.services, task) = (group, Task.detached { try await group.run() })
    isRunning.wait()
    port = found.withLock { $0 }
    guard let url = URL(string: "http://127.0.0.1:\(port)") else {
      throw WrongResult(description: "the server has no port")
    }
    self.url = url
  }

  deinit {
    let services = services
    Task.detached { await services.triggerGracefulShutdown() }
  }
}
