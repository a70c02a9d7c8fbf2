#if Server
  import Concord
  import ConcordServer
  import ConcordTestSupport
  import Foundation
  import Testing

  @testable import ConcordSync

  /// What users need to test their own code: a server and devices in the process, without a network.
  @Suite(.timeLimit(.minutes(1)))
  struct InProcessTests {
    /// The time that the quickest of some runs takes at most: 0.02 and 0.2 s on an idle machine, and 0.6 s beside compilers on both cores. The waits of
    /// the tests are half a minute and more, if a service or a device waits on the machine's clock.
    private static let bound = Duration.seconds(1)

    /// Runs a closure until a run is quick, five times at most: whatever else the machine does delays some of them.
    private func expectQuick(_ body: () async throws -> Void) async throws {
      var times: [Duration] = []
      while times.count < 5, times.allSatisfy({ $0 >= Self.bound }) {
        let begin = ContinuousClock.now
        try await body()
        times.append(.now - begin)
      }
      #expect(times.contains { $0 < Self.bound }, "\(times)")
    }

    @Test("The waits and the rates of a service pass as a test moves its clock")
    func serviceClock() async throws { try await expectQuick { try await moveServiceClock() } }

    private func moveServiceClock() async throws {
      let server = try ServerContainer.inMemory(try shopModel())
      let context = server.newBackgroundContext()
      context.insert(Cart(id: 1, owner: 1))
      try context.save()
      let clock = VirtualClock()
      var limits = SyncLimits()
      (limits.requestsPerSecond, limits.burst) = (0.1, 3)
      let service = shopService(server, limits, clock: clock)
      @Sendable func ask(_ user: Int, _ first: WireValue? = nil, wait: Double = 0) async throws -> TransportResponse {
        let request = PageRequest(
          device: "d", position: try first?["position"].text(), user: first == nil ? nil : "1", actions: 0, awaited: [],
          subscriptions: [
            .init(
              name: "carts", parameters: [:], known: try first?["subscriptions"].array()[0]["condition"].text())
          ], wait: wait)
        return try await service.transport(as: User(id: user)).send(
          TransportRequest("POST", "pages", body: Data(request.wire.bytes)))
      }
      let answer = try await ask(1)
      let first = try WireValue(parsing: try #require(answer.body.split(separator: 0x0A).first))
      async let waiting = ask(1, first, wait: 28)
      await clock.sleepers(atLeast: 1)
      clock.advance(by: .seconds(28))
      #expect(try await waiting.status == 200)

      for _ in 1...3 { #expect(try await ask(2).status == 200) }
      #expect(try await ask(2).status == 429)
      clock.advance(by: .seconds(9))
      #expect(try await ask(2).status == 429)
      clock.advance(by: .seconds(1))
      #expect(try await ask(2).status == 200)
    }

    @Test("Two devices and a server in a test, with a network that fails as told and a clock that the test moves")
    func twoDevices() async throws { try await expectQuick { try await synchroniseTwoDevices() } }

    private func synchroniseTwoDevices() async throws {
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
      // A tunnel: the answers are lost, and nothing happens until the clock is moved.
      for _ in 0..<40 { networks[0].play(.loseAnswer(TransportError.timedOut)) }
      try await phone.connect.forward(Append(cart: 1, text: "y"))
      var (waited, waits) = (Duration.zero, 0)
      let done = Kept(false)
      let checkpoint = Task {
        try await phone.sync.checkpoint()
        done.withLock { $0 = true }
      }
      while !done.withLock({ $0 }) {
        if let step = clock.advanceToNextSleeper() { (waited, waits) = (waited + step, waits + 1) }
        try await Task.sleep(for: .milliseconds(1))
      }
      try await checkpoint.value
      // All waits have passed as the clock was moved: none has taken the time of the machine.
      #expect(waited > .seconds(60) && waits > 20)
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
