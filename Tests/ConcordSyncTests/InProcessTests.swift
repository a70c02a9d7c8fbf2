#if Server
  import Concord
  import ConcordServer
  import ConcordTestSupport
  import Foundation
  import Testing

  /// What users need to test their own code: a server and devices in the process, without a network.
  @Suite(.timeLimit(.minutes(1)))
  struct InProcessTests {
    @Test("Two devices and a server in a test, with a network that fails as told and a clock that the test moves")
    func twoDevices() async throws {
      let model = try shopModel()
      let server = try ServerContainer.inMemory(model)
      let context = server.newBackgroundContext()
      context.insert(Cart(id: 1, owner: 1))
      context.insert(Cart(id: 2, owner: 2))
      try context.save()
      let service = shopService(server)
      let clock = VirtualClock()
      func device(_ network: ScriptedTransport) async throws -> (
        connect: GenericConnect<ContextStrategy.Mixed>, sync: Sync
      ) {
        let connect = try GenericConnect<ContextStrategy.Mixed>.inMemory(model, clock: clock, forwarding: [Append.self])
        try await connect.start()
        return (connect, connect.sync(over: network, clock: clock))
      }
      let networks = (0..<2).map { _ in ScriptedTransport { try await service.transport(as: User(id: 1)).send($0) } }
      let (phone, tablet) = (try await device(networks[0]), try await device(networks[1]))
      try await phone.sync.subscribe("carts").ready()
      try await tablet.sync.subscribe("carts").ready()
      func notes(_ connect: DeviceConnect) throws -> [String] {
        try BackgroundContext(parent: connect.persistentStoreCoordinator).fetch(FetchDescriptor<Cart>()).map(\.note)
      }
      try await phone.connect.forward(Append(cart: 1, text: "x"))
      try await phone.sync.checkpoint()
      try await tablet.sync.checkpoint()
      #expect(try notes(phone.connect) == ["x"] && notes(tablet.connect) == ["x"])
      // A tunnel: the answer is lost, and nothing happens until the clock is moved.
      networks[0].play(.loseAnswer(TransportError.timedOut), .loseAnswer(TransportError.timedOut))
      try await phone.connect.forward(Append(cart: 1, text: "y"))
      let done = Kept(false)
      let checkpoint = Task {
        try await phone.sync.checkpoint()
        done.withLock { $0 = true }
      }
      while !done.withLock({ $0 }) {
        _ = clock.advanceToNextSleeper()
        try await Task.sleep(for: .milliseconds(1))
      }
      try await checkpoint.value
      try await tablet.sync.checkpoint()
      #expect(try notes(phone.connect) == ["xy"] && notes(tablet.connect) == ["xy"])
      // Another user gets nothing of it, and no path leads elsewhere.
      let other = service.transport(as: User(id: 3))
      #expect(try await other.send(TransportRequest("POST", "pages", body: Data("{}".utf8))).status == 400)
      #expect(try await other.send(TransportRequest("GET", "health")).status == 404)
      try await phone.connect.stop()
      try await tablet.connect.stop()
    }
  }
#endif
