import BookstoreKit
import ConcordConnect
package import Foundation

/// A customer of the server, with a store of her own: what the server has sold so far, what it says meanwhile, and what she does.
package final class Storefront: Sendable {
  typealias Container = GenericConnect<ContextStrategy.Mixed>

  let connect: Container
  let network: Network
  /// All books, in the order of the catalogue.
  let books: EntityObserver<[Book]>
  let cart: EntityObserver<Cart>
  private let feed: ServerFeed
  /// Whether the feed is connected, for those who show it.
  let connection: ConnectionState

  var view: ViewContext { connect.viewContext }
  var store: EntityStore { view.store }

  /// Opens the store in a folder, and begins to follow the server.
  ///
  /// - Throws: `StoreError` if the file cannot be opened.
  package init(server: URL, folder: URL) throws {
    let network = Network(server)
    let connect = Container(
      name: "customer",
      model: try Model(
        "Customer", entities: [Author.self, Book.self, Review.self, Cart.self, CartLine.self]),
      reachability: network.reachability)
    try connect.attachPersistentStore(at: folder)
    try connect.start()
    try Self.makeCart(in: connect)
    let view = connect.viewContext
    books = try view.query(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.number)]))
    guard let cart = try view.find(Cart.self, id: Cart.own) else { throw ActionProblem.noCart }
    self.cart = cart
    let sync = SyncShop(network)
    let connection = ConnectionState()
    self.connection = connection
    feed = ServerFeed(network) {
      try await connect.executed(sync)
    } take: { event in
      try await connect.executed(TakeEvent(event: event))
    } didChange: {
      connection.isConnected = $0
    }
    (self.network, self.connect) = (network, connect)
    feed.start()
  }

  /// The cart is there from the beginning, so that books can be put into it before the server has been heard of.
  private static func makeCart(in connect: Container) throws {
    let context = connect.newBackgroundContext()
    if try context.find(Cart.self, id: Cart.own) != nil { return }
    context.insert(Cart(id: Cart.own, lines: []))
    try context.save()
  }

  /// Ends the connection, and closes the file.
  package func close() async throws {
    feed.stop()
    try await connect.stop()
  }

  package var isOnline: Bool {
    get { network.isOnline }
    set { network.isOnline = newValue }
  }
}

extension GenericConnect {
  /// Executes an action, and waits for its end.
  func executed<A: EntityAction & Sendable>(_ action: A) async throws {
    let proxy = try execute(action)
    await proxy.finished()
    if let error = proxy.error { throw error }
  }
}
