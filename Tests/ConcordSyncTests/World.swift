#if Server
  import Concord
  import ConcordServer
  import Foundation
  import GRDB
  import Hummingbird
  import Logging
  import Metrics
  import NIOCore
  import ServiceLifecycle
  import Testing

  #if PostgreSQL
    import ConcordPostgreSQL
  #endif

  /// The types of stores that keep the truth.
  enum Kind: String, CaseIterable, CustomTestStringConvertible {
    case memory, sqlite, postgreSQL

    static let allCases: [Kind] = [.memory, .sqlite] + (database == nil ? [] : [.postgreSQL])
    /// The database of the tests; `nil` where there is none.
    static let database = ProcessInfo.processInfo.environment["CONCORD_POSTGRESQL"]

    var testDescription: String { rawValue }

    /// Opens a new store.
    ///
    /// - Parameter schema: the name of the schema, if it is one of a database.
    func attach(to container: ServerContainer, in folder: URL, schema: String = newSchema()) throws {
      switch self {
      case .memory:
        try container.attachPersistentStore(
          at: folder.appending(path: "server"), for: StoreConfiguration(type: .inMemory))
      case .sqlite:
        try container.attachPersistentStore(
          at: folder.appending(path: "server"), for: StoreConfiguration(type: .sqlite))
      case .postgreSQL:
        #if PostgreSQL
          try container.attachPersistentStore(
            for: StoreConfiguration(
              type: .postgreSQL,
              options: [ConcordPostgreSQLOption: Self.database ?? "", ConcordPostgreSQLSchemaOption: schema]))
        #endif
      }
    }

    static func newSchema() -> String { "sync-\(UUID().uuidString.prefix(8))" }
  }

  /// A server on loopback, and devices with files of their own.
  final class World: Sendable {
    let folder: URL
    let container: ServerContainer
    let service: SyncService<User>
    let url: URL
    /// What runs the service, and ends it.
    let services: ServiceGroup
    let rules: Kept<Int>
    /// The tokens that are no longer valid, as requests carry them.
    let expired: Kept<Set<String>>

    fileprivate init(
      folder: URL, container: ServerContainer, service: SyncService<User>, url: URL, services: ServiceGroup,
      rules: Kept<Int>, expired: Kept<Set<String>>
    ) {
      (self.folder, self.container, self.service, self.url) = (folder, container, service, url)
      (self.services, self.rules, self.expired) = (services, rules, expired)
    }

    /// Writes to the server's file as another program does.
    func write(_ sql: String) throws {
      let file = try #require(container.persistentStoreCoordinator.persistentStores.first?.url)
      try execute(sql, in: file)
    }

    /// Writes to the server's store as its own code does.
    func serve(_ body: (BackgroundContext) throws -> Void) throws {
      let context = container.newBackgroundContext()
      try body(context)
      try context.save()
    }

    /// Lets the server's store forget what is beyond the limits of its feed.
    func trimFeed() throws {
      let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
      while try store.rows.trimFeed() {}
    }

    func served<T: PersistentEntity>(_ type: T.Type) throws -> [T] {
      try container.newBackgroundContext().fetch(FetchDescriptor<T>())
    }

    /// A device of a user, whose requests go through a network that may fail.
    ///
    /// - Parameters:
    ///   - token: the token; where it is empty, there is none.
    ///   - isInHeader: whether the transport carries it, and the synchronisation knows of none.
    ///   - model: the model; `nil` for that of the shop.
    ///   - attach: a closure that attaches the stores; `nil` for one file of the name.
    func device(
      _ name: String, user: Int = 1, network: Network = Network(), wait: Duration = .seconds(20),
      token: Kept<String>? = nil, isInHeader: Bool = false, model: Model? = nil,
      attaching attach: ((DeviceConnect) throws -> Void)? = nil
    ) async throws -> Device {
      let connect = DeviceConnect(
        name: "Shop", model: try model ?? shopModel(),
        forwarding: [
          AddLine.self, RemoveLine.self, Append.self, Give.self, Rename.self, Overwrite.self, Unknown.self,
          Retitle.self, Restock.self, Put.self, Reach.self,
        ],
        outboxPolicy: OutboxPolicy(dependents: .goOn, backoff: Backoff(base: .milliseconds(5), cap: .milliseconds(40))))
      if let attach {
        try attach(connect)
      } else {
        try connect.attachPersistentStore(at: folder.appending(path: name), for: StoreConfiguration(type: .sqlite))
      }
      try await connect.start()
      network.base.withLock { [url] base in
        let server = HTTPTransport(baseURL: url, timeout: .seconds(40))
        base = server
        guard isInHeader else { return }
        base = PassingTransport { request in
          var request = request
          request.headers["Authorization"] = "Bearer \(token?.withLock { $0 } ?? "user-\(user)")"
          return try await server.send(request)
        }
      }
      let sync = connect.sync(
        over: network, wait: wait, backoff: Backoff(base: .milliseconds(5), cap: .milliseconds(40))
      ) {
        if isInHeader { return nil }
        let token = token?.withLock { $0 } ?? "user-\(user)"
        if token.isEmpty { throw NoToken() }
        return token
      }
      return Device(connect: connect, sync: sync, network: network)
    }
  }

  extension World {
    /// A device with one file, each committed state of which is told before the next one.
    ///
    /// - Parameter note: a closure that receives what the file has at first, and after each commit.
    func device(
      _ name: String, user: Int = 1, network: Network = Network(), token: Kept<String>? = nil,
      noting note: @escaping @Sendable (Moment) -> Void
    ) async throws -> Device {
      let model = try shopModel()
      return try await device(name, user: user, network: network, token: token, model: model) { connect in
        try connect.attach(at: self.folder.appending(path: name), for: StoreConfiguration(type: .sqlite)) { rows in
          NotingStore(rows) { store in
            // One that is being closed has no further states.
            if let moment = try? Moment(store, model, user: user) { note(moment) }
          }
        }
      }
    }
  }

  /// The error of an app whose user has signed out.
  struct NoToken: Error {}

  extension DeviceConnect {
    /// Attaches a store that goes through another one, which a stop does not detach.
    ///
    /// - Parameter through: a closure that receives the store of the configuration, and returns the other one.
    func attach(
      at folder: URL, for configuration: StoreConfiguration, through other: (any RowStore) throws -> any RowStore
    ) throws {
      let inner = ServerContainer(name: name, model: model)
      let store = try inner.attachPersistentStore(at: folder, for: configuration)
      try persistentStoreCoordinator.attach(
        PersistentStore(
          configurationName: store.configurationName, type: store.type, url: store.url, rows: other(store.rows)))
    }
  }

  struct Device: Sendable {
    let connect: DeviceConnect
    let sync: Sync
    let network: Network

    /// What the file has, without pending actions.
    func stored<T: PersistentEntity>(_ type: T.Type) throws -> [T] {
      try BackgroundContext(parent: connect.persistentStoreCoordinator).fetch(FetchDescriptor<T>())
    }

    /// Stops it, which must take no longer than the requests that it cancels.
    func stop() async throws {
      let outcome = Kept<Result<Void, any Error>?>(nil)
      connect.stop { error in outcome.withLock { $0 = error.map { .failure($0) } ?? .success(()) } }
      guard try await eventually(4, { outcome.withLock { $0 != nil } }) else {
        Issue.record("it does not stop: \(sync.status), \(connect.outbox.pending)")
        return
      }
      if case .failure(let error) = outcome.withLock({ $0 }) { throw error }
      // Those that go through another one are not attached again, and so not detached.
      for store in connect.persistentStoreCoordinator.persistentStores { try connect.detach(persistentStore: store) }
    }
  }

  /// A network that fails as a test tells.
  final class Network: Transport {
    let base = Kept<(any Transport)?>(nil)
    private let fate: Kept<@Sendable (TransportRequest) -> Fate>

    enum Fate: Sendable {
      case pass
      case lost
      case answerLost
      case doubled
      case answer(Int, String = "said the test")
    }

    init(_ fate: @escaping @Sendable (TransportRequest) -> Fate = { _ in .pass }) { self.fate = Kept(fate) }

    func set(_ fate: @escaping @Sendable (TransportRequest) -> Fate) { self.fate.withLock { $0 = fate } }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
      guard let base = base.withLock({ $0 }) else { throw TransportError.unreachable(reason: "nothing is there") }
      switch fate.withLock({ $0 })(request) {
      case .pass: return try await base.send(request)
      case .lost: throw TransportError.unreachable(reason: "lost")
      case .answerLost:
        _ = try await base.send(request)
        throw TransportError.unreachable(reason: "the answer was lost")
      case .answer(let status, let text): return TransportResponse(status: status, body: Data(text.utf8))
      case .doubled:
        async let other = base.send(request)
        let response = try await base.send(request)
        _ = try? await other
        return response
      }
    }
  }

  func withWorld<R: Sendable>(
    _ kind: Kind = .sqlite, limits: SyncLimits = SyncLimits(), history: History? = nil,
    schema: String = Kind.newSchema(), metrics: any MetricsFactory = MetricsSystem.factory,
    log: Logger = quietLog,
    _ body: @escaping @Sendable (World) async throws -> R
  ) async throws -> R {
    let folder = FileManager.default.temporaryDirectory.appending(path: "concord-sync-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let container = ServerContainer(name: "Shop", model: try shopModel())
    // What is written to a store that is recorded goes through the recording one.
    let inner = ServerContainer(name: "Shop", model: container.model)
    if let history {
      try kind.attach(to: inner, in: folder, schema: schema)
      let store = try #require(inner.persistentStoreCoordinator.persistentStores.first)
      history.model.withLock { $0 = container.model }
      try container.persistentStoreCoordinator.attach(
        PersistentStore(
          configurationName: nil, type: store.type, url: nil, rows: RecordingStore(store.rows, kind, history)))
    } else {
      try kind.attach(to: container, in: folder, schema: schema)
    }
    let (rules, expired) = (Kept(0), Kept<Set<String>>([]))
    let service = shopService(container, limits, rules, metrics, logger: log, expired: expired)
    let router = Router()
    service.addRoutes(to: router, path: "sync")
    return try await withServer(of: service, router) { url, services in
      try await body(
        World(
          folder: folder, container: container, service: service, url: url, services: services, rules: rules,
          expired: expired))
    }
  }

  /// Runs a service and its routes, below `sync`, on loopback.
  ///
  /// - Parameter body: a closure that receives the address of the routes, and what ends the service.
  func withServer<R: Sendable>(
    of service: SyncService<some Identifiable & Sendable>, _ router: Router<BasicRequestContext>,
    _ body: @escaping @Sendable (URL, ServiceGroup) async throws -> R
  ) async throws -> R {
    let (ports, port) = AsyncStream<Int>.makeStream()
    var logger = Logger(label: "test")
    logger.logLevel = .error
    let app = Application(
      router: router, server: .http1(configuration: .init(additionalChannelHandlers: service.channelHandlers())),
      configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)), services: [service],
      onServerRunning: { channel in
        port.yield(channel.localAddress?.port ?? 0)
        port.finish()
      }, logger: logger)
    let services = ServiceGroup(configuration: .init(services: [app], logger: logger))
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await services.run() }
      var found = 0
      for await port in ports { found = port }
      let url = try #require(URL(string: "http://127.0.0.1:\(found)/sync"))
      let running = Task { try await body(url, services) }
      // A test that takes too long is cancelled, and says where it was.
      let result = await withTaskCancellationHandler {
        await running.result
      } onCancel: {
        running.cancel()
      }
      await services.triggerGracefulShutdown()
      try? await group.waitForAll()
      return try result.get()
    }
  }

  /// Runs a statement in a file, as another program does that waits for its turn.
  func execute(_ sql: String, in file: URL) throws {
    var configuration = Configuration()
    configuration.busyMode = .timeout(10)
    let queue = try DatabaseQueue(path: file.path, configuration: configuration)
    defer { try? queue.close() }
    try queue.write { try $0.execute(sql: sql) }
  }

  /// Waits until something holds, for half a minute at most, or so many of them.
  func eventually(_ halves: Int = 1, _ condition: () throws -> Bool) async throws -> Bool {
    for _ in 0..<6000 * halves {
      if try condition() { return true }
      try await Task.sleep(for: .milliseconds(5))
    }
    return false
  }
#endif
