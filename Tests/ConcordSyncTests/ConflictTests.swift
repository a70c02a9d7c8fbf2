#if Server
  import ConcordServer
  import Foundation
  import Testing

  /// Actions that do not fit what the server has, and of which the device cannot know that.
  @Suite(.timeLimit(.minutes(2)))
  struct ConflictTests {
    /// What an action takes that another user's row has.
    enum Taken: String, CaseIterable {
      case value, id

      var way: Reach.Way { self == .value ? .unique : .replace }
      var reason: String {
        self == .value ? "it does not apply to what is stored" : "it changes an entity that it does not name"
      }
    }

    @Test(
      "A unique value or an id that is taken refuses an action: a dead letter with the server's reason, and rolled back",
      arguments: Kind.allCases, Taken.allCases)
    func taken(_ kind: Kind, _ taken: Taken) async throws {
      try await withWorld(kind) { world in
        try world.serve { context in
          context.insert(Cart(id: 1, owner: 1))
          context.insert(Cart(id: 2, owner: 2, note: "theirs"))
          context.insert(Label(id: 5, owner: 2, name: "taken"))
        }
        let device = try await world.device("a")
        for name in ["carts", "labels"] { try await device.sync.subscribe(name).ready() }
        let context = device.connect.viewContext
        let carts = try context.query(FetchDescriptor<Cart>())
        let labels = try context.query(FetchDescriptor<Label>())
        device.network.set { $0.isForPages ? .pass : .lost }
        try await device.connect.forward(Reach(cart: 1, way: taken.way))
        #expect(carts.value.count + labels.value.count == 2)
        device.network.set { _ in .pass }
        try await device.sync.checkpoint()
        #expect(device.connect.outbox.deadLetters.map(\.reason) == [taken.reason])
        #expect(carts.value == [Cart(id: 1, owner: 1)] && labels.value.isEmpty)
        #expect(try device.stored(Cart.self) == [Cart(id: 1, owner: 1)] && device.stored(Label.self).isEmpty)
        #expect(try world.served(Cart.self).first { $0.id == 2 } == Cart(id: 2, owner: 2, note: "theirs"))
        #expect(try world.served(Label.self) == [Label(id: 5, owner: 2, name: "taken")])
        try await device.stop()
      }
    }

    @Test(
      "An error of a store that a rule meets, and that does not pass, refuses an action without the words of the store")
    func storeOfRule() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        world.service.allow(Append.self) { _, _ in throw StoreError.unknownEntity("Secret") }
        let device = try await world.device("a")
        try await device.sync.subscribe("carts").ready()
        try await device.connect.forward(Append(cart: 1, text: "x"))
        try await device.sync.checkpoint()
        #expect(device.connect.outbox.deadLetters.map(\.reason) == ["it does not apply to what is stored"])
        #expect(try device.connect.viewContext.fetch(FetchDescriptor<Cart>()) == [Cart(id: 1, owner: 1)])
        #expect(try world.served(Cart.self) == [Cart(id: 1, owner: 1)])
        try await device.stop()
      }
    }
  }
#endif
