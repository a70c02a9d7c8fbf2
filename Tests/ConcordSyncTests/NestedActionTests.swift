#if Server
  import ConcordServer
  import Foundation
  import Testing

  @testable import ConcordSync

  /// Actions that are nested as deeply as a message may be, and more deeply.
  @Suite(.timeLimit(.minutes(1)))
  struct NestedActionTests {
    /// An array in an array, and so on, around a number.
    private indirect enum Nest: Codable, Sendable {
      case end
      case inner(Nest)

      init(depth: Int) { self = depth == 0 ? .end : .inner(Nest(depth: depth - 1)) }

      init(from decoder: any Decoder) throws {
        if var container = try? decoder.unkeyedContainer() {
          self = .inner(try container.decode(Nest.self))
        } else {
          self = .end
        }
      }

      func encode(to encoder: any Encoder) throws {
        switch self {
        case .end:
          var container = encoder.singleValueContainer()
          try container.encode(1)
        case .inner(let nest):
          var container = encoder.unkeyedContainer()
          try container.encode(nest)
        }
      }
    }

    private struct Nested: SyncAction {
      var cart: Int
      var nest: Nest
      static let name = "nested"
      var entity: AnyEntityReference { .init(Cart.self, id: cart) }
      func apply(to store: EntityStore) throws { store.update(Cart.self, id: cart) { $0.note += "n" } }
    }

    /// The values around the innermost one are the message, the action, and these arrays.
    private static var mostArrays: Int { 61 }

    @Test("An action that is nested too deeply for a message is not forwarded, and holds nothing up")
    func depth() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let service = SyncService<User>(world.container, actions: [Nested.self]) { _ in nil }
        service.publish("carts", of: Cart.self) { user, _ in
          let id = user.id
          return #Predicate<Cart> { $0.owner == id }
        }
        service.allow(Nested.self) { _, _ in true }
        let connect = DeviceConnect(name: "Shop", model: try shopModel(), forwarding: [Nested.self])
        try connect.attachPersistentStore(
          at: world.folder.appending(path: "a"), for: StoreConfiguration(type: .sqlite))
        try await connect.start()
        let deep = Nested(cart: 1, nest: Nest(depth: Self.mostArrays + 1))
        // Before it is known that it is to be synchronised.
        try await connect.forward(deep)
        let sync = connect.sync(over: service.transport(as: User(id: 1)))
        try await sync.subscribe("carts").ready()
        #expect(try await eventually { connect.outbox.deadLetters.count == 1 })
        #expect(connect.outbox.drop(try #require(connect.outbox.deadLetters.first)))
        do {
          try await connect.forward(deep)
          Issue.record("it was forwarded")
        } catch Errors.unreadableAction(let reason) {
          #expect(reason.contains("'nested' cannot be sent"))
        }
        try await connect.forward(Nested(cart: 1, nest: Nest(depth: Self.mostArrays)))
        try await sync.checkpoint()
        #expect(connect.outbox.pending.isEmpty && connect.outbox.deadLetters.isEmpty)
        #expect(try world.served(Cart.self).map(\.note) == ["n"])
        try await connect.stop()
      }
    }
  }
#endif
