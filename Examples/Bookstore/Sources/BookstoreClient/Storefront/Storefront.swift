import BookstoreKit
import BookstoreShared
import BookstoreWeb
package import ConcordSync
import Foundation

/// A customer of the server, with a store of her own that is kept as the server's is, and shows at once what she does.
package final class Storefront: Sendable {
  let customer: String
  let connect: GenericConnect<ContextStrategy.Mixed>
  let sync: Sync
  let network: Network
  /// All books, in the order of the catalogue.
  let books: EntityObserver<[Book]>
  /// The customer's cart, once there is something in it.
  let cart: EntityObserver<Cart?>
  /// What brings the stored cart into memory, where ``cart`` follows it.
  private let storedCarts: EntityObserver<[Cart]>
  /// Told when the outbox or the connection has changed.
  let changes = Broadcast<Void>()
  private let following: [Task<Void, Never>]

  var store: EntityStore { connect.viewContext.store }

  /// Opens the store in a folder, and begins to follow the server.
  ///
  /// - Parameters:
  ///   - server: where the server is.
  ///   - folder: where the file is, or is made.
  ///   - customer: her name.
  ///   - isOnline: whether there is a network, at first.
  ///   - recording: a closure that returns what stands in front of the file, and is told of each commit.
  /// - Throws: `StoreError` if the file cannot be opened.
  package init(
    server: URL, folder: URL, customer: String = "reader", isOnline: Bool = true,
    recording: ((any RowStore, Model) throws -> any RowStore)? = nil
  ) throws {
    self.customer = customer
    let network = Network(server)
    network.isOnline = isOnline
    let backoff = Backoff(base: .milliseconds(100), cap: .seconds(1))
    connect = GenericConnect(
      name: "shop", model: try .shop(), reachability: network.reachability, forwarding: shopActions,
      // Where one copy is refused, a review of the book may still be welcome.
      outboxPolicy: OutboxPolicy(dependents: .goOn, backoff: backoff))
    if let recording {
      let opened = GenericPersistentContainer<ContextStrategy.Direct>(name: "shop", model: connect.model)
      let store = try opened.attachPersistentStore(at: folder)
      try connect.persistentStoreCoordinator.attach(
        PersistentStore(
          configurationName: nil, type: store.type, url: store.url, rows: recording(store.rows, connect.model)))
    } else {
      try connect.attachPersistentStore(at: folder)
    }
    try connect.start()
    sync = connect.sync(over: network, backoff: backoff) { customer }
    sync.subscribe("books")
    sync.subscribe("cart")
    books = try connect.viewContext.query(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.number)]))
    storedCarts = try connect.viewContext.query(FetchDescriptor<Cart>(predicate: #Predicate { $0.id == customer }))
    cart = connect.viewContext.store.observer(Cart.self, id: customer)
    self.network = network
    let (statuses, events) = (sync.statuses, connect.outbox.events)
    following = [
      Task { [changes] in for await _ in statuses { changes.send(()) } },
      Task { [changes] in for await _ in events { changes.send(()) } },
    ]
  }

  /// Ends the connection, and closes the file.
  package func close() async throws {
    for task in following { task.cancel() }
    try await connect.stop()
  }

  package var isOnline: Bool {
    get { network.isOnline }
    set { network.isOnline = newValue }
  }

  /// Whether the server is heard of.
  var isConnected: Bool { if case .offline = sync.status { false } else { true } }
}
