#if Server
  import ConcordServer
  import ConcordTestSupport
  import Testing

  struct WishTests {
    @Test("What is wished on the phone is on the tablet, also after a tunnel")
    func tunnel() async throws {
      let model = try Model("Wishes", entities: [Wish.self])
      let service = wishService(try GenericPersistentContainer<ContextStrategy.Direct>.inMemory(model))
      let clock = VirtualClock()
      func device(_ network: ScriptedTransport) async throws -> (
        connect: GenericConnect<ContextStrategy.Mixed>, sync: Sync
      ) {
        let connect = try GenericConnect<ContextStrategy.Mixed>.inMemory(
          model, clock: clock, forwarding: [AddWish.self, Grant.self])
        try await connect.start()
        return (connect, connect.sync(over: network, clock: clock))
      }
      let anna = service.transport(as: Person(id: "anna"))
      let networks = (0..<2).map { _ in ScriptedTransport { try await anna.send($0) } }
      let (phone, tablet) = (try await device(networks[0]), try await device(networks[1]))
      for device in [phone, tablet] { try await device.sync.subscribe("wishes").ready() }
      let screens = try [phone, tablet].map { try $0.connect.viewContext.query(FetchDescriptor<Wish>()) }
      func shown() -> [[String]] { screens.map { $0.value.map(\.text) } }

      for _ in 1...10 { networks[0].play(.fail(TransportError.unreachable(reason: "a tunnel"))) }
      try await phone.connect.forward(AddWish(owner: "anna", text: "a kite"))
      #expect(shown() == [["a kite"], []])

      // The phone tries again after waits, which pass as the clock is moved.
      while !phone.connect.outbox.pending.isEmpty {
        clock.advanceToNextSleeper()
        try await Task.sleep(for: .milliseconds(1))
      }
      for device in [phone, tablet] { try await device.sync.checkpoint() }
      #expect(shown() == [["a kite"], ["a kite"]])
      for device in [phone, tablet] { try await device.connect.stop() }
    }
  }
#endif
