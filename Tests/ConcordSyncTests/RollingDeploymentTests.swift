#if Server
  import ConcordServer
  import Foundation
  import Testing

  @testable import ConcordServer
  @testable import ConcordSync

  /// Servers of two releases, and errors that pass, in what servers decide about publications and actions.
  @Suite(.timeLimit(.minutes(2)))
  struct RollingDeploymentTests {
    @Test("An error of a publication that passes is answered with 503, takes no row, and tells nothing of itself")
    func passingErrors() async throws {
      try await withWorld { world in
        let failures = Kept(0)
        world.service.publish("checked", of: Cart.self) { user, _ in
          let fails = failures.withLock { failures in
            defer { failures = max(0, failures - 1) }
            return failures > 0
          }
          if fails { throw StoreError.storeFailed(store: "users", reason: "10.1.2.3 does not answer") }
          let id = user.id
          return #Predicate<Cart> { $0.owner == id }
        }
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let device = try await world.device("a")
        try await device.sync.subscribe("checked").ready()
        #expect(try await eventually { !world.service.live.isIdle })
        let answers = Kept<[(status: Int, text: String)]>([])
        device.route { request, transport in
          let response = try await transport.send(request)
          answers.withLock { $0.append((response.status, String(decoding: response.body, as: UTF8.self))) }
          return response
        }
        failures.withLock { $0 = 1 }
        try await device.sync.checkpoint()
        #expect(try device.stored(Cart.self).map(\.id) == [1])
        #expect(answers.withLock { $0.contains { $0.status == 503 } })
        #expect(answers.withLock { !$0.contains { $0.text.contains("10.1.2.3") } })
        try world.serve { $0.insert(Cart(id: 2, owner: 1)) }
        try await device.sync.checkpoint()
        #expect(try device.stored(Cart.self).map(\.id) == [1, 2])
        try await device.stop()
      }
    }

    @Test(
      "A server of an earlier release that does not know a publication takes no row, and the device goes on by itself")
    func unknownPublications() async throws {
      try await withWorld { world in
        world.service.publish("new", of: Cart.self) { user, _ in
          let id = user.id
          return #Predicate<Cart> { $0.owner == id }
        }
        let earlier = shopService(world.container).transport(as: User(id: 1))
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let device = try await world.device("a")
        try await device.sync.subscribe("new").ready()
        let isEarlier = Kept(true)
        device.route { request, transport in
          try await isEarlier.withLock { $0 } ? earlier.send(request) : transport.send(request)
        }
        try await device.sync.checkpoint()
        #expect(try device.stored(Cart.self).map(\.id) == [1])
        try world.serve { $0.insert(Cart(id: 2, owner: 1)) }
        isEarlier.withLock { $0 = false }
        // As when the network returns.
        device.sync.outboxDidChange()
        try await device.sync.checkpoint()
        #expect(try device.stored(Cart.self).map(\.id) == [1, 2])
        try await device.stop()
      }
    }

    @Test(
      "Rows of a publication that a server does not know leave when the user is another one",
      arguments: [true, false])
    func unknownToOtherUser(_ wasRefused: Bool) async throws {
      try await withWorld { world in
        world.service.publish("new", of: Cart.self) { user, _ in
          let id = user.id
          return #Predicate<Cart> { $0.owner == id }
        }
        let earlier = shopService(world.container)
        try world.serve { context in for id in 1...2 { context.insert(Cart(id: id, owner: id)) } }
        let token = Kept("user-1")
        let device = try await world.device("a", token: token)
        try await device.sync.subscribe("new").ready()
        device.route { request, _ in
          try await earlier.transport(as: User(id: token.withLock { $0 == "user-1" } ? 1 : 2)).send(request)
        }
        if wasRefused {
          // It is not asked for again for a while.
          try await device.sync.checkpoint()
          #expect(try device.stored(Cart.self).map(\.id) == [1])
        }
        token.withLock { $0 = "user-2" }
        try await device.sync.checkpoint()
        #expect(try device.stored(Cart.self).isEmpty)
        try await device.stop()
      }
    }

    @Test("An app that subscribes at each start loses the rows of a publication that is no longer there")
    func removedPublication() async throws {
      try await withWorld { world in
        world.service.publish("new", of: Cart.self) { user, _ in
          let id = user.id
          return #Predicate<Cart> { $0.owner == id }
        }
        let later = shopService(world.container).transport(as: User(id: 1))
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let device = try await world.device("a")
        try await device.sync.subscribe("new").ready()
        device.route { request, _ in try await later.send(request) }
        try await device.sync.checkpoint()
        #expect(try device.stored(Cart.self).map(\.id) == [1])
        try await device.stop()
        let connect = DeviceConnect(name: "Shop", model: try shopModel())
        try connect.attachPersistentStore(at: world.folder.appending(path: "a"), for: StoreConfiguration(type: .sqlite))
        let sync = connect.sync(over: PassingTransport { try await later.send($0) }) { nil }
        // Before the server is asked.
        let again = sync.subscribe("new")
        #expect(try await sync.subscriptions().count == 1)
        try await connect.start()
        await #expect(throws: SyncError.self) { try await again.ready() }
        let next = Device(connect: connect, sync: sync, network: Network())
        #expect(try next.stored(Cart.self).isEmpty)
        try await next.stop()
      }
    }

    @Test("What a server has refused is asked for again when the app starts again")
    func refusedSubscriptions() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let device = try await world.device("a")
        await #expect(throws: SyncError.self) { try await device.sync.subscribe("new").ready() }
        let counts = Kept(0)
        device.network.set { request in
          if request.isForPages { counts.withLock { $0 += 1 } }
          return .pass
        }
        try await Task.sleep(for: .milliseconds(300))
        #expect(counts.withLock { $0 } <= 2)
        try await device.stop()
        world.service.publish("new", of: Cart.self) { user, _ in
          let id = user.id
          return #Predicate<Cart> { $0.owner == id }
        }
        let again = try await world.device("a")
        try await again.sync.checkpoint()
        #expect(try again.stored(Cart.self).map(\.id) == [1])
        try await again.stop()
      }
    }

    @Test("An action that one server has accepted is accepted for another that does not know its name")
    func unknownActions() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let earlier = SyncService<User>(world.container, actions: []) { _ in nil }
        let message = ActionMessage(
          device: "d", key: "k", name: Append.name, body: .object(["cart": .integer(1), "text": .text("x")]),
          refusals: 0, since: 0)
        let request = TransportRequest("POST", "actions", body: Data(message.wire.bytes))
        for service in [world.service, earlier] {
          let answer = try await service.transport(as: User(id: 1)).send(request)
          #expect(try ActionDecision(WireValue(parsing: answer.body)) == .accepted)
        }
        #expect(try world.served(Cart.self).map(\.note) == ["x"])
      }
    }

    @Test("An action that an earlier server has refused is not applied by a later one to which the network repeats it")
    func repeatedUnknownActions() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let earlier = SyncService<User>(world.container, actions: []) { _ in nil }
        func decision(_ service: SyncService<User>, refusals: Int64) async throws -> ActionDecision {
          let message = ActionMessage(
            device: "d", key: "k", name: Append.name, body: .object(["cart": .integer(1), "text": .text("x")]),
            refusals: refusals, since: 0)
          let answer = try await service.transport(as: User(id: 1)).send(
            TransportRequest("POST", "actions", body: Data(message.wire.bytes)))
          return try ActionDecision(WireValue(parsing: answer.body))
        }
        let refused = ActionDecision.refused(reason: "the server does not know the action 'append'")
        #expect(try await decision(earlier, refusals: 0) == refused)
        #expect(try await decision(world.service, refusals: 0) == refused)
        #expect(try world.served(Cart.self).map(\.note) == [""])
        // When a person asks again, the later one decides.
        #expect(try await decision(world.service, refusals: 1) == .accepted)
        #expect(try await decision(earlier, refusals: 1) == .accepted)
        #expect(try world.served(Cart.self).map(\.note) == ["x"])
      }
    }
  }
#endif
