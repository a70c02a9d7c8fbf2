#if Server
  import ConcordServer
  import Foundation
  import Testing

  /// Two processes of a device with one file, as an app and its extension: here two connects.
  @Suite(.timeLimit(.minutes(2)))
  struct SharedFileTests {
    @Test("Two connects of one file ask seldom, and both show what the server has")
    func calm() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let counts = Kept(0)
        let network: @Sendable () -> Network = {
          Network { request in
            if request.isForPages { counts.withLock { $0 += 1 } }
            return .pass
          }
        }
        let first = try await world.device("a", network: network())
        try await first.sync.subscribe("carts").ready()
        let second = try await world.device("a", network: network())
        try await second.sync.checkpoint()
        try await Task.sleep(for: .milliseconds(200))
        counts.withLock { $0 = 0 }
        try await Task.sleep(for: .seconds(2))
        #expect(counts.withLock { $0 } <= 20)
        // Either subscribes, and both get what is committed.
        try await second.sync.subscribe("labels").ready()
        let begin = ContinuousClock.now
        try world.serve { $0.insert(Label(id: 1, owner: 1, name: "a")) }
        for device in [first, second] {
          #expect(try await eventually { try device.stored(Label.self).map(\.id) == [1] })
        }
        // The one that waits at the server has learnt of it.
        #expect(ContinuousClock.now - begin < .seconds(10))
        try await second.connect.forward(Append(cart: 1, text: "x"))
        try await second.sync.checkpoint()
        #expect(try second.stored(Cart.self).map(\.note) == ["x"])
        // One ends, and the other takes over.
        try await first.stop()
        try world.serve { try $0.update(Label.self, id: 1) { $0.name = "b" } }
        #expect(try await eventually { try second.stored(Label.self).map(\.name) == ["b"] })
        try await second.stop()
      }
    }

    @Test("A subscription that ends leaves what the other process has just forwarded an action for")
    func justForwarded() async throws {
      try await withWorld { world in
        try world.serve { context in for id in 1...5 { context.insert(Cart(id: id, owner: 1)) } }
        let first = try await world.device("a")
        let second = try await world.device("a")
        for id in 1...5 {
          let carts = first.sync.subscribe("carts")
          try await carts.ready()
          for device in [first, second] { device.network.set { _ in .lost } }
          try await second.connect.forward(Append(cart: id, text: "x"))
          // Before its commit is told.
          try await carts.cancel()
          #expect(try first.stored(Cart.self).map(\.id) == [id])
          for device in [first, second] { device.network.set { _ in .pass } }
          try await first.sync.checkpoint()
          try await first.sync.checkpoint()
          #expect(try first.stored(Cart.self).isEmpty)
        }
        #expect(try world.served(Cart.self).map(\.note) == Array(repeating: "x", count: 5))
        for device in [first, second] { try await device.stop() }
      }
    }
  }
#endif
