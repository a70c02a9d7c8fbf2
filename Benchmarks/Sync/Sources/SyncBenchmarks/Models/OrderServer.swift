import ConcordServer
import Foundation
import GRDB

#if PostgreSQL
  import ConcordPostgreSQL
#endif

/// A server of orders, and its store, which go with the object.
final class OrderServer: Sendable {
  typealias Container = GenericPersistentContainer<ContextStrategy.Direct>

  struct Customer: Identifiable, Sendable { let id: Int }

  let folder: Folder
  let container: Container
  let service: SyncService<Customer>
  let web: WebServer

  /// - Parameters:
  ///   - orders: the orders that the store has.
  ///   - database: whether the store is in the database of ``database``; otherwise it is a file.
  init(orders: [Order], limits: SyncLimits = SyncLimits(), inDatabase: Bool = false) throws {
    folder = try Folder()
    container = Container(name: "Orders", model: try Order.model())
    var configuration = StoreConfiguration(type: .sqlite)
    #if PostgreSQL
      if inDatabase {
        configuration = StoreConfiguration(
          type: .postgreSQL,
          options: [
            ConcordPostgreSQLOption: Self.database ?? "", ConcordPostgreSQLSchemaOption: "orders-\(UUID().uuidString)",
          ])
      }
    #endif
    try container.attachPersistentStore(at: folder.url.appending(path: "server"), for: configuration)
    let context = container.newBackgroundContext()
    for order in orders { context.insert(order) }
    try context.save()
    service = SyncService<Customer>(container, actions: [Annotate.self], limits: limits) { request in
      request.headers[.authorization].flatMap { Int($0.dropFirst("Bearer ".count)) }.map(Customer.init)
    }
    service.publish("orders", of: Order.self) { customer, _ in
      let id = customer.id
      return #Predicate<Order> { $0.customer == id }
    }
    service.publish("orders of", of: Order.self) { _, parameters in
      let id = Int(parameters["customer"]?.integer ?? 0)
      return #Predicate<Order> { $0.customer == id }
    }
    service.allow(Annotate.self) { _, _ in true }
    web = try WebServer(services: [service]) { [service] in service.addRoutes(to: $0, path: "sync") }
  }

  /// Where the database is: the script starts one.
  static let database = ProcessInfo.processInfo.environment["CONCORD_BENCHMARK_POSTGRESQL"]

  /// The file of the store, if it is one.
  var file: URL? { container.persistentStoreCoordinator.persistentStores.first?.url }

  /// Commits a change of an order, as the server's own code does.
  func annotate(_ order: Order, with note: String, in context: BackgroundContext) throws {
    var order = order
    order.note = note
    context.insert(order)
    try context.save()
  }
}

/// A device of a customer, with a file of its own.
final class OrderDevice: Sendable {
  let folder: Folder
  let connect: GenericConnect<ContextStrategy.Mixed>
  let sync: Sync

  init(of customer: Int, at url: URL) async throws {
    folder = try Folder()
    connect = GenericConnect(name: "Orders", model: try Order.model(), forwarding: [Annotate.self])
    try connect.attachPersistentStore(at: folder.url.appending(path: "device"), for: StoreConfiguration(type: .sqlite))
    try await connect.start()
    sync = connect.sync(with: url.appending(path: "sync")) { "\(customer)" }
  }

  func stop() async throws { try await connect.stop() }
}

/// A temporary folder, which goes with the object.
final class Folder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "concord-benchmark-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }
}
