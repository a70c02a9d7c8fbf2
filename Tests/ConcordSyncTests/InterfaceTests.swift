#if Server
  import ConcordServer
  import Foundation
  import Hummingbird
  import ServiceLifecycle
  import Testing

  /// The interface in the words that its users keep: an action, an app and a server.
  @Suite(.timeLimit(.minutes(1)))
  struct InterfaceTests {
    struct Customer: Identifiable, Sendable { let id: Int }

    struct Order: PersistentEntity, Equatable {
      let id: Int
      var customer: Customer.ID
      var placed: Date

      static let persistentProperties: [PersistentProperty<Order>] = [
        .init("id", \.id), .init("customer", \.customer), .init("placed", \.placed),
      ]
      init(from row: inout RowReader) throws {
        (id, customer, placed) = (try row.read(), try row.read(), try row.read())
      }
      func write(to row: inout RowWriter) throws {
        try row.write(id)
        try row.write(customer)
        try row.write(placed)
      }
      init(_ id: Int, of customer: Customer.ID, at placed: Date) {
        (self.id, self.customer, self.placed) = (id, customer, placed)
      }
    }

    struct AddToCart: SyncAction {
      var customer: Customer.ID, book: Book.ID
      static let name = "add-to-cart"
      var entity: AnyEntityReference { .init(Cart.self, id: customer) }
      func apply(to store: EntityStore) throws {
        store.update(Cart.self, id: customer) { $0.lines.append(Line(id: "\($0.id)-\(book)")) }
      }
    }

    actor Users {
      func who(_ token: String?) throws -> Customer? { token == "Bearer token-of-1" ? Customer(id: 1) : nil }
    }

    actor Login {
      func token() throws -> String { "token-of-1" }
    }

    @Test("An action, an app and a server are written, and work, in the words of the interface")
    func interface() async throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "interface-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      let model = try Model("Shop", entities: [Book.self, Line.self, Cart.self, Order.self])
      let container = ServerContainer(name: "Shop", model: model)
      try container.attachPersistentStore(at: folder.appending(path: "server"), for: StoreConfiguration(type: .sqlite))
      let start = Date(timeIntervalSinceReferenceDate: 800_000_000)
      let context = container.newBackgroundContext()
      context.insert(Cart(id: 1, owner: 1))
      context.insert(Cart(id: 2, owner: 2))
      for (id, customer, at) in [(1, 1, start - 1), (2, 1, start), (3, 2, start)] {
        context.insert(Order(id, of: customer, at: at))
      }
      try context.save()

      let (users, login, router) = (Users(), Login(), Router())
      let service = SyncService(container, actions: [AddToCart.self]) { request in
        try await users.who(request.headers[.authorization])
      }
      service.publish("orders", of: Order.self) { user, parameters in
        let id = user.id
        return #Predicate<Order> { $0.customer == id }
      }
      service.allow(AddToCart.self) { action, user in action.customer == user.id }
      service.addRoutes(to: router, path: "sync")
      let _: any Service = service
      service.publish("carts", of: Cart.self) { _, _ in #Predicate<Cart> { _ in true } }

      let connect = DeviceConnect(name: "Shop", model: model, forwarding: [AddToCart.self])
      try connect.attachPersistentStore(at: folder.appending(path: "device"), for: StoreConfiguration(type: .sqlite))
      try await connect.start()
      @Sendable func shown() throws -> [Int] {
        try connect.viewContext.fetch(FetchDescriptor<Order>(sortBy: [SortDescriptor(\.id)])).map(\.id)
      }
      try await withServer(of: service, router) { url, _ in
        let sync = connect.sync(with: url, token: { try await login.token() })
        let orders = sync.subscribe("orders", ["since": .date(start)])
        try await orders.ready()
        #expect(try shown() == [1, 2])
        for await status in sync.statuses {
          switch status {
          case .offline(let reason): Issue.record("it is offline: \(reason)")
          case .catchingUp(let done, let total): #expect(done <= total)
          case .upToDate: #expect(sync.status == .upToDate)
          }
          if status == .upToDate { break }
        }

        // One that reads its parameter.
        service.publish("orders", of: Order.self) { user, parameters in
          guard let since = parameters["since"]?.date else { throw MissingParameter() }
          let id = user.id
          return #Predicate<Order> { $0.customer == id && $0.placed >= since }
        }
        try await sync.checkpoint()
        #expect(try shown() == [2])

        try await sync.subscribe("carts").ready()
        for customer in [1, 2] { try await connect.forward(AddToCart(customer: customer, book: 7)) }
        try await sync.checkpoint()
        #expect(connect.outbox.deadLetters.map(\.reason) == ["it is not allowed"])
        let carts = FetchDescriptor<Cart>(sortBy: [SortDescriptor(\.id)])
        let served = try container.newBackgroundContext().fetch(carts)
        #expect(served.map { $0.lines.map(\.id) } == [["1-7"], []])
        #expect(try connect.viewContext.fetch(carts) == served)

        try await orders.cancel()
        #expect(try shown().isEmpty)
        #expect(try await sync.subscriptions().map(\.name) == ["carts"])
        try await connect.stop()
      }
    }
  }
#endif
