#if Server
  import Concord
  import ConcordServer
  import Foundation
  import GRDB
  import Hummingbird
  import Logging
  import NIOCore
  import ServiceLifecycle
  import Testing

  struct User: Identifiable, Sendable { let id: Int }

  /// The types of stores that keep the truth.
  enum Kind: String, CaseIterable, CustomTestStringConvertible {
    case memory, sqlite
    var testDescription: String { rawValue }
    var type: StoreType { self == .memory ? .inMemory : .sqlite }
  }

  typealias ServerContainer = GenericPersistentContainer<ContextStrategy.Direct>
  typealias DeviceConnect = GenericConnect<ContextStrategy.Mixed>

  /// What the predicates of publications depend on beside users and parameters, as on the version of a server.
  enum Rules {
    /// The least weight of a cart.
    static func floor(_ rules: Int) -> Double { rules == 2 ? 1 : 0 }
  }

  /// A server on loopback, and devices with files of their own.
  final class World: Sendable {
    let folder: URL
    let container: ServerContainer
    let service: SyncService<User>
    let url: URL
    let rules: Kept<Int>

    fileprivate init(
      folder: URL, container: ServerContainer, service: SyncService<User>, url: URL, rules: Kept<Int>
    ) {
      (self.folder, self.container, self.service, self.url) = (folder, container, service, url)
      self.rules = rules
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

    func served<T: PersistentEntity>(_ type: T.Type) throws -> [T] {
      try container.newBackgroundContext().fetch(FetchDescriptor<T>())
    }

    /// A device of a user, whose requests go through a network that may fail.
    func device(
      _ name: String, user: Int = 1, network: Network = Network(), wait: Duration = .seconds(20)
    ) async throws -> Device {
      let connect = DeviceConnect(
        name: "Shop", model: try shopModel(),
        forwarding: [AddLine.self, RemoveLine.self, Append.self, Give.self, Rename.self, Overwrite.self, Unknown.self],
        outboxPolicy: OutboxPolicy(dependents: .goOn, backoff: Backoff(base: .milliseconds(5), cap: .milliseconds(40))))
      try connect.attachPersistentStore(at: folder.appending(path: name), for: StoreConfiguration(type: .sqlite))
      try await connect.start()
      network.base.withLock { [url] in $0 = HTTPTransport(baseURL: url, timeout: .seconds(40)) }
      let sync = connect.sync(
        over: network, wait: wait, backoff: Backoff(base: .milliseconds(5), cap: .milliseconds(40))
      ) { "user-\(user)" }
      return Device(connect: connect, sync: sync, network: network)
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

    func stop() async throws { try await connect.stop() }
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
    _ body: @escaping @Sendable (World) async throws -> R
  ) async throws -> R {
    let folder = FileManager.default.temporaryDirectory.appending(path: "concord-sync-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let container = ServerContainer(name: "Shop", model: try shopModel())
    if let history {
      let entities = container.model.entities
      let store: any RowStore =
        kind == .memory
        ? MemoryStore(name: "memory")
        : try SQLiteStore(url: folder.appending(path: "server.sqlite"), entities: entities)
      history.model.withLock { $0 = container.model }
      try container.persistentStoreCoordinator.attach(
        PersistentStore(
          configurationName: nil, type: kind.type, url: nil, rows: RecordingStore(store, history)))
    } else {
      try container.attachPersistentStore(
        at: folder.appending(path: "server"), for: StoreConfiguration(type: kind.type))
    }
    let rules = Kept(0)
    var limits = limits
    // What devices show is compared with what the server has committed.
    if history != nil { limits.hidesPositions = false }
    let service = shopService(container, limits, rules)
    let router = Router()
    service.addRoutes(to: router, path: "sync")
    let (ports, port) = AsyncStream<Int>.makeStream()
    var logger = Logger(label: "test")
    logger.logLevel = .error
    let app = Application(
      router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
      services: [service],
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
      let world = World(folder: folder, container: container, service: service, url: url, rules: rules)
      let result = await Task { try await body(world) }.result
      await services.triggerGracefulShutdown()
      try? await group.waitForAll()
      return try result.get()
    }
  }

  func shopService(
    _ container: any PersistentContainer, _ limits: SyncLimits = SyncLimits(), _ rules: Kept<Int> = Kept(0)
  ) -> SyncService<User> {
    let service = SyncService<User>(
      container,
      actions: [AddLine.self, RemoveLine.self, Append.self, Give.self, Rename.self, Overwrite.self], limits: limits
    ) { request in
      guard let token = request.headers[.authorization], token.hasPrefix("Bearer user-"),
        let id = Int(token.dropFirst("Bearer user-".count))
      else { return nil }
      return User(id: id)
    }
    service.publish("carts", of: Cart.self) { user, _ in
      let id = user.id
      let floor = Rules.floor(rules.withLock { $0 })
      return #Predicate<Cart> { $0.owner == id && $0.weight >= floor }
    }
    service.publish("heavy", of: Cart.self) { user, parameters in
      let id = user.id
      guard let least = parameters["least"]?.number.map({ $0 + Double(rules.withLock { $0 }) }) else {
        throw MissingParameter()
      }
      return #Predicate<Cart> { $0.owner == id && $0.weight >= least }
    }
    service.publish("books", of: Book.self) { _, _ in #Predicate<Book> { $0.stock > 0 } }
    service.publish("labels", of: Label.self) { user, _ in
      let id = user.id
      return #Predicate<Label> { $0.owner == id }
    }
    service.publish("with-book", of: Cart.self) { _, parameters in
      let title = parameters["title"]?.text ?? ""
      return #Predicate<Cart> { cart in cart.lines.contains { line in line.text == title } }
    }
    service.allow(AddLine.self) { action, user, store in
      store.find(Cart.self, id: action.cart)?.value.owner == user.id
    }
    service.allow(RemoveLine.self) { action, user, store in
      store.find(Cart.self, id: action.cart)?.value.owner == user.id
    }
    service.allow(Append.self) { action, user, store in
      store.find(Cart.self, id: action.cart)?.value.owner == user.id
    }
    service.allow(Give.self) { action, user, store in
      store.find(Cart.self, id: action.cart)?.value.owner == user.id
    }
    service.allow(Rename.self) { _, _ in true }
    service.allow(Overwrite.self) { action, user in action.cart == user.id }
    return service
  }

  /// Runs a statement in a file, as another program does.
  func execute(_ sql: String, in file: URL) throws {
    let queue = try DatabaseQueue(path: file.path)
    defer { try? queue.close() }
    try queue.write { try $0.execute(sql: sql) }
  }

  struct MissingParameter: Error, CustomStringConvertible { let description = "the parameter 'least' is missing" }

  /// Waits until something holds, for half a minute at most.
  func eventually(_ condition: () throws -> Bool) async throws -> Bool {
    for _ in 0..<6000 {
      if try condition() { return true }
      try await Task.sleep(for: .milliseconds(5))
    }
    return false
  }
#endif
