#if Server
  import Concord
  import ConcordServer
  import ConcordTestSupport
  import Foundation
  import Testing

  @testable import ConcordSync

  /// What rules of `allow` may do, and what comes of it.
  @Suite(.timeLimit(.minutes(2)))
  struct RuleTests {
    @Test("An action that the server knows, and for which no rule was given, is refused")
    func withoutRule() async throws {
      let model = try shopModel()
      let server = try ServerContainer.inMemory(model)
      let context = server.newBackgroundContext()
      context.insert(Cart(id: 1, owner: 1))
      try context.save()
      let service = SyncService<User>(server, actions: [Append.self, Give.self]) { _ in nil }
      service.publish("carts", of: Cart.self) { user, _ in
        let id = user.id
        return #Predicate<Cart> { $0.owner == id }
      }
      // A rule of another action is none of this one's.
      service.allow(Give.self) { _, _ in true }
      let connect = try DeviceConnect.inMemory(model, forwarding: [Append.self])
      try await connect.start()
      let sync = connect.sync(over: service.transport(as: User(id: 1)))
      try await sync.subscribe("carts").ready()
      try await connect.forward(Append(cart: 1, text: "x"))
      try await sync.checkpoint()
      #expect(connect.outbox.deadLetters.map(\.reason) == ["it is not allowed"])
      #expect(try server.newBackgroundContext().fetch(FetchDescriptor<Cart>()).map(\.note) == [""])
      #expect(try connect.viewContext.fetch(FetchDescriptor<Cart>()).map(\.note) == [""])
      try await connect.stop()
    }

    @Test(
      "A rule that was cancelled has decided nothing, nor has an error of a store that may pass",
      arguments: [CancellationError() as any Error, StoreError.locked(store: "users")])
    func undecided(_ error: any Error) async throws {
      try await withWorld { world in
        try world.serve { context in
          context.insert(Book(id: 1, title: "A"))
          context.insert(Cart(id: 1, owner: 1, lines: [Line(id: "l", book: Book(id: 1, title: "A"))]))
        }
        let times = Kept(0)
        world.service.allow(Rename.self) { _, _ in
          let time = times.withLock { times in
            times += 1
            return times
          }
          if time < 3 { throw error }
          return true
        }
        let device = try await world.device("a")
        try await device.sync.subscribe("carts").ready()
        try await device.connect.forward(Rename(book: 1, title: "B"))
        try await device.sync.checkpoint()
        #expect(device.connect.outbox.deadLetters.isEmpty && times.withLock { $0 } == 3)
        #expect(try world.served(Book.self).map(\.title) == ["B"] && device.stored(Book.self).map(\.title) == ["B"])
        try await device.stop()
      }
    }

    @Test("What a rule writes into the store that it looks at is not stored", arguments: Kind.allCases)
    func writing(_ kind: Kind) async throws {
      try await withWorld(kind) { world in
        try world.serve { context in
          context.insert(
            Cart(id: 1, owner: 1, lines: [Line(id: "l", text: "x", book: Book(id: 1, title: "A", stock: 5))]))
          context.insert(Cart(id: 2, owner: 2))
        }
        let seen = Kept<[String]>([])
        world.service.allow(Append.self) { action, user, store in
          seen.withLock { $0.append(store.find(Cart.self, id: 1)?.value.note ?? "none") }
          store.update(Cart.self, id: 1) { cart in
            cart.owner = 7
            cart.note += "rule"
            cart.lines.append(Line(id: "new"))
          }
          store.update(Book.self, id: 1) { $0.stock = 0 }
          store.store(Book(id: 9, title: "new"))
          store.remove(Line.self, id: "l")
          return action.text != "no"
        }
        let device = try await world.device("a")
        try await device.sync.subscribe("carts").ready()
        for text in ["a", "no", "b"] { try await device.connect.forward(Append(cart: 1, text: text)) }
        try await device.sync.checkpoint()
        #expect(seen.withLock { $0 } == ["", "a", "a"])
        #expect(device.connect.outbox.deadLetters.map(\.reason) == ["it is not allowed"])
        #expect(
          try world.served(Cart.self).first
            == Cart(
              id: 1, owner: 1, note: "ab",
              lines: [Line(id: "l", text: "x", book: Book(id: 1, title: "A", stock: 5))]))
        #expect(try world.served(Book.self).map(\.id) == [1] && world.served(Line.self).map(\.id) == ["l"])
        #expect(try device.stored(Cart.self) == [world.served(Cart.self)[0]])
        try await device.stop()
      }
    }

    @Test(
      "The reason of a refusal is told again as it was, whatever text it is",
      arguments: ["\u{301}x", "", " a  b ", "1"])
    func repeatedReason(_ reason: String) async throws {
      struct Refusal: Error, CustomStringConvertible { let description: String }
      try await withWorld { world in
        try world.serve { $0.insert(Book(id: 1, title: "A")) }
        world.service.allow(Rename.self) { _, _ in throw Refusal(description: reason) }
        func decision(refusals: Int64) async throws -> ActionDecision {
          let message = ActionMessage(
            device: "d", key: "k", name: Rename.name, body: .object(["book": .integer(1), "title": .text("B")]),
            refusals: refusals, since: 0)
          let answer = try await world.service.transport(as: User(id: 1)).send(
            TransportRequest("POST", "actions", body: Data(message.wire.bytes)))
          return try ActionDecision(WireValue(parsing: answer.body))
        }
        // The network repeats a request, and a person asks again.
        for refusals in [0, 0, 1, 1, 0] {
          #expect(try await decision(refusals: Int64(refusals)) == .refused(reason: reason))
        }
        world.service.allow(Rename.self) { _, _ in true }
        #expect(try await decision(refusals: 1) == .refused(reason: reason))
        #expect(try await decision(refusals: 2) == .accepted)
      }
    }
  }
#endif
