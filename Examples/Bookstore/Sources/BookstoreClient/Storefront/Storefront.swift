import BookstoreKit
import BookstoreWeb
import ConcordConnect
package import Foundation
import Synchronization

/// A customer of the server, with a store of her own: what the server has sold so far, what it says meanwhile, and what she does.
package final class Storefront: Sendable {
  typealias Container = GenericConnect<ContextStrategy.Mixed>

  let connect: Container
  let network: Network
  /// All books, in the order of the catalogue.
  let books: EntityObserver<[Book]>
  let cart: EntityObserver<Cart>
  private let feed: ServerFeed
  private let following = Mutex<Task<Void, Never>?>(nil)
  /// Told when the outbox or the connection has changed.
  let changes = Broadcast<Void>()
  /// Whether the feed is connected, for those who show it.
  let connection: ConnectionState

  var view: ViewContext { connect.viewContext }
  var store: EntityStore { view.store }

  /// Opens the store in a folder, and begins to follow the server.
  ///
  /// - Throws: `StoreError` if the file cannot be opened.
  ///
  /// - Parameters:
  ///   - server: where the server is.
  ///   - folder: where the file is, or is made.
  ///   - isOnline: whether there is a network, at first.
  ///   - followsFeed: whether it hears what others do.
  package init(server: URL, folder: URL, isOnline: Bool = true, followsFeed: Bool = true) throws {
    let network = Network(server)
    network.isOnline = isOnline
    let connect = Container(
      name: "customer",
      model: try Model(
        "Customer", entities: [Author.self, Book.self, Review.self, Cart.self, CartLine.self]),
      reachability: network.reachability, transport: network, forwarding: Self.actions,
      // Where one copy is refused, a review of the book may still be welcome.
      outboxPolicy: OutboxPolicy(dependents: .goOn, backoff: Backoff(base: .milliseconds(100), cap: .seconds(2))))
    try connect.attachPersistentStore(at: folder)
    try connect.start()
    try Self.makeCart(in: connect)
    let view = connect.viewContext
    books = try view.query(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.number)]))
    guard let cart = try view.find(Cart.self, id: Cart.own) else { throw ActionProblem.noCart }
    self.cart = cart
    let sync = SyncShop(network)
    let connection = ConnectionState(changes)
    self.connection = connection
    feed = ServerFeed(network) {
      try await connect.executed(sync)
    } take: { event in
      try await connect.executed(TakeEvent(event: event))
    } didChange: {
      connection.isConnected = $0
    }
    (self.network, self.connect) = (network, connect)
    if followsFeed { feed.start() }
    following.withLock { following in
      let events = connect.outbox.events
      following = Task { [self] in await follow(events) }
    }
  }

  /// Tells those who show the outbox, and asks what became of a name: somebody else may have changed it before the answer came.
  private func follow(_ events: AsyncStream<OutboxEvent>) async {
    for await event in events {
      if case .accepted(let entry) = event, let action = entry.action as? RenameAuthor {
        _ = try? connect.execute(RefreshAuthor(author: action.author, network: network))
      }
      changes.send(())
    }
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
    following.withLock { $0?.cancel() }
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
