#if Server
  import ConcordConnect
  import ConcordServer
  import ConcordTestSupport
  import Foundation
  import Testing

  /// A device that is started and stopped, and that has no store for a while.
  @Suite(.timeLimit(.minutes(2)))
  struct DeviceLifeTests {
    @Test("A subscription is kept, however soon the connect is stopped")
    func stoppedAtOnce() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        for round in 0..<12 {
          let name = "d\(round)"
          let device = try await world.device(name)
          let carts = device.sync.subscribe("carts")
          if round % 3 == 1 { await Task.yield() }
          try await device.stop()
          // By the same objects, or by those of the next process.
          var next = device
          if round % 2 == 0 {
            try await device.connect.start()
          } else {
            next = try await world.device(name)
          }
          #expect(try await next.sync.subscriptions().map(\.name) == ["carts"])
          try await next.sync.checkpoint()
          #expect(try next.stored(Cart.self).map(\.id) == [1])
          if round % 2 == 0 { try await carts.ready() }
          try await next.stop()
        }
      }
    }

    @Test("Who subscribes without a store does so once one is attached", arguments: [true, false])
    func withoutStore(_ wasStopped: Bool) async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let device: Device
        let carts: SyncSubscription
        if wasStopped {
          device = try await world.device("a")
          try await device.stop()
          carts = device.sync.subscribe("carts")
          await #expect(throws: Errors.self) { try await carts.ready() }
          try await device.connect.start()
        } else {
          let connect = DeviceConnect(name: "Shop", model: try shopModel())
          let network = Network()
          network.base.withLock { [url = world.url] in $0 = HTTPTransport(baseURL: url, timeout: .seconds(40)) }
          let sync = connect.sync(over: network) { "user-1" }
          device = Device(connect: connect, sync: sync, network: network)
          carts = sync.subscribe("carts")
          await #expect(throws: Errors.self) { try await carts.ready() }
          #expect(sync.status == .offline(.notStarted))
          try connect.attachPersistentStore(
            at: world.folder.appending(path: "a"), for: StoreConfiguration(type: .sqlite))
          try await connect.start()
        }
        try await device.sync.checkpoint()
        #expect(try device.stored(Cart.self).map(\.id) == [1])
        try await carts.ready()
        try await device.stop()
      }
    }

    @Test("A device whose requests do not wait pauses between them")
    func withoutWait() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let connect = DeviceConnect(name: "Shop", model: try shopModel())
        try connect.attachPersistentStore(
          at: world.folder.appending(path: "a"), for: StoreConfiguration(type: .sqlite))
        try await connect.start()
        let (pages, clock) = (Kept(0), VirtualClock())
        let server = HTTPTransport(baseURL: world.url, timeout: .seconds(40))
        let network = PassingTransport { request in
          if request.isForPages { pages.withLock { $0 += 1 } }
          return try await server.send(request)
        }
        let sync = connect.sync(over: network, wait: .zero, clock: clock) { "user-1" }
        let device = Device(connect: connect, sync: sync, network: Network())
        try await sync.subscribe("carts").ready()
        // It asks until it has all, and sleeps.
        await clock.sleepers(atLeast: 1)
        try await Task.sleep(for: .milliseconds(300))
        #expect(pages.withLock { $0 } <= 5)
        // A change is asked for after the pause.
        try world.serve { $0.insert(Cart(id: 2, owner: 1)) }
        #expect(
          try await eventually {
            _ = clock.advanceToNextSleeper()
            return try device.stored(Cart.self).count == 2
          })
        try await device.stop()
      }
    }

    /// The reasons for which a server sends a device again what it has.
    enum Reason: CaseIterable { case condition, servers, feed }

    @Test("A device that gets again and again what it has pauses between its requests", arguments: Reason.allCases)
    func repeatedPages(_ reason: Reason) async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1, weight: 5)) }
        let floor = Kept(0.0)
        if reason == .condition {
          // As a date that is not rounded.
          world.service.publish("carts", of: Cart.self) { user, _ in
            let (id, least) = (
              user.id,
              floor.withLock { floor in
                floor += 0.001
                return floor
              }
            )
            return #Predicate<Cart> { $0.owner == id && $0.weight >= least }
          }
        }
        let other = shopService(world.container, SyncLimits(), Kept(2)).transport(as: User(id: 1))
        let connect = DeviceConnect(name: "Shop", model: try shopModel())
        try connect.attachPersistentStore(
          at: world.folder.appending(path: "a"), for: StoreConfiguration(type: .sqlite))
        try await connect.start()
        let (pages, clock) = (Kept(0), VirtualClock())
        let server = HTTPTransport(baseURL: world.url, timeout: .seconds(40))
        let network = PassingTransport { request in
          let count = pages.withLock { pages in
            pages += 1
            return pages
          }
          if reason == .feed { try world.write("UPDATE concord_feed SET epoch = epoch + 1") }
          return try await reason == .servers && count.isMultiple(of: 2) ? other.send(request) : server.send(request)
        }
        let sync = connect.sync(over: network, clock: clock) { "user-1" }
        let device = Device(connect: connect, sync: sync, network: Network())
        try await sync.subscribe("carts").ready()
        try await Task.sleep(for: .milliseconds(500))
        #expect((2...5).contains(pages.withLock { $0 }))
        // After the pause it goes on, and pauses again.
        try world.serve { $0.insert(Cart(id: 2, owner: 1, weight: 5)) }
        #expect(
          try await eventually {
            _ = clock.advanceToNextSleeper()
            return try device.stored(Cart.self).count == 2
          })
        let count = pages.withLock { $0 }
        try await Task.sleep(for: .milliseconds(300))
        #expect(pages.withLock { $0 } <= count + 2)
        try await device.stop()
      }
    }

    @Test("A device whose subscription comes whole with each change does not pause between changes")
    func wholePages() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1, lines: [Line(id: "l", text: "x")])) }
        let connect = DeviceConnect(name: "Shop", model: try shopModel())
        try connect.attachPersistentStore(
          at: world.folder.appending(path: "a"), for: StoreConfiguration(type: .sqlite))
        try await connect.start()
        let server = HTTPTransport(baseURL: world.url, timeout: .seconds(40))
        let sync = connect.sync(over: server, clock: VirtualClock()) { "user-1" }
        let device = Device(connect: connect, sync: sync, network: Network())
        // The predicate looks at the lines.
        try await sync.subscribe("with-book", ["title": "x"]).ready()
        for number in 0..<6 {
          try world.serve { try $0.update(Cart.self, id: 1) { $0.note = "\(number)" } }
          #expect(try await eventually { try device.stored(Cart.self).map(\.note) == ["\(number)"] })
        }
        try await device.stop()
      }
    }

    @Test("Actions wait while the program or the server has to be updated, and the status stays")
    func outdated() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let device = try await world.device("a")
        let (pages, actions) = (Kept(0), Kept(0))
        device.network.set { request in
          if request.isForPages {
            pages.withLock { $0 += 1 }
            return .answer(426, "update it")
          }
          actions.withLock { $0 += 1 }
          return .pass
        }
        let statuses = Kept<[SyncStatus]>([])
        let reading = Task { for await status in device.sync.statuses { statuses.withLock { $0.append(status) } } }
        device.sync.subscribe("carts")
        #expect(
          try await eventually { if case .offline(.upgradeRequired) = device.sync.status { true } else { false } })
        let before = pages.withLock { $0 }
        try await device.connect.forward(Append(cart: 1, text: "x"))
        #expect(try await eventually { pages.withLock { $0 } > before + 10 })
        #expect(actions.withLock { $0 } == 0 && device.connect.outbox.pending.count == 1)
        let seen = statuses.withLock { $0 }
        let first = try #require(seen.firstIndex { $0.isOutdated })
        #expect(seen[first...].allSatisfy { $0.isOutdated })
        device.network.set { _ in .pass }
        try await device.sync.checkpoint()
        #expect(try world.served(Cart.self).map(\.note) == ["x"] && device.connect.outbox.pending.isEmpty)
        reading.cancel()
        try await device.stop()
      }
    }

    @Test("A token that has ended is told when an action meets it, and not when the request that waits ends")
    func endedToken() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let device = try await world.device("a", wait: .seconds(100))
        try await device.sync.subscribe("carts").ready()
        #expect(try await eventually { device.sync.status == .upToDate })
        device.network.set { _ in .answer(401) }
        try await device.connect.forward(Append(cart: 1, text: "x"))
        #expect(try await eventually { device.sync.status == .offline(.unauthorized) })
        device.network.set { _ in .pass }
        try await device.sync.checkpoint()
        #expect(try world.served(Cart.self).map(\.note) == ["x"] && device.sync.status == .upToDate)
        try await device.stop()
      }
    }

    @Test("A stop ends what waits for a token")
    func tokenThatHangs() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let isAsked = Kept(false)
        let device = try await world.device("a")
        let sync = device.connect.sync(with: world.url) {
          if isAsked.withLock({ wasAsked in
            defer { wasAsked = true }
            return !wasAsked
          }) {
            try await Task.sleep(for: .seconds(3600))
          }
          return "user-1"
        }
        sync.subscribe("carts")
        #expect(try await eventually { isAsked.withLock { $0 } })
        try await device.connect.stop()
        try await device.connect.start()
        try await device.connect.forward(Append(cart: 1, text: "x"))
        try await sync.checkpoint()
        #expect(try world.served(Cart.self).map(\.note) == ["x"])
        try await device.stop()
      }
    }
  }

  extension SyncStatus {
    fileprivate var isOutdated: Bool { if case .offline(.upgradeRequired) = self { true } else { false } }
  }
#endif
