#if Server
  import ConcordServer
  import Foundation
  import Testing

  @testable import Concord
  @testable import ConcordServer
  @testable import ConcordSync

  /// Files of devices that were copied, as to another phone, or put back from a back-up.
  @Suite(.timeLimit(.minutes(2)))
  struct CopiedFileTests {
    private func copy(_ name: String, to other: String, in world: World) throws {
      let target = world.folder.appending(path: other)
      try? FileManager.default.removeItem(at: target)
      try FileManager.default.copyItem(at: world.folder.appending(path: name), to: target)
    }

    /// Forwards actions, one after another, and waits for their decisions.
    private func act(_ count: Int, _ device: Device) async throws {
      for _ in 0..<count {
        try await device.connect.forward(Restock(book: 1, count: 1))
        try await device.sync.checkpoint()
      }
    }

    @Test(
      "The actions of a file that is put back, whose keys the server has forgotten, have no second effect, and are dead letters",
      arguments: [true, false])
    func restored(_ isRefused: Bool) async throws {
      var limits = SyncLimits()
      limits.actions = 1
      try await withWorld(limits: limits) { world in
        try world.serve { $0.insert(Book(id: 1, title: "A")) }
        let isAllowed = Kept(!isRefused)
        world.service.allow(Restock.self) { _, _ in isAllowed.withLock { $0 } }
        var device = try await world.device("a")
        try await device.sync.subscribe("books").ready()
        if isRefused {
          // Dead letters, which a person will try again.
          for _ in 0..<2 { try await device.connect.forward(Restock(book: 1, count: 1)) }
          try await device.sync.checkpoint()
          #expect(device.connect.outbox.deadLetters.count == 2)
          isAllowed.withLock { $0 = true }
        } else {
          device.connect.suspended = true
          for _ in 0..<2 { try await device.connect.forward(Restock(book: 1, count: 1)) }
        }
        try await device.stop()
        try copy("a", to: "copy", in: world)

        device = try await world.device("a")
        for letter in device.connect.outbox.deadLetters { #expect(device.connect.outbox.retry(letter)) }
        try await device.sync.checkpoint()
        try await act(6, device)
        #expect(try world.served(Book.self).map(\.stock) == [18])
        try await device.stop()

        try copy("copy", to: "a", in: world)
        let isHeld = Kept(true)
        device = try await world.device(
          "a", network: Network { request in request.isForPages || !isHeld.withLock { $0 } ? .pass : .lost })
        #expect(try await eventually { device.sync.state.withLock { $0.pages > 0 } })
        isHeld.withLock { $0 = false }
        if isRefused {
          for letter in device.connect.outbox.deadLetters { #expect(device.connect.outbox.retry(letter)) }
        }
        try await device.sync.checkpoint()
        #expect(device.connect.outbox.deadLetters.map { $0.reason.contains("so old") } == [true, true])
        #expect(try world.served(Book.self).map(\.stock) == [18] && device.stored(Book.self).map(\.stock) == [18])
        // What is new is sent.
        try await act(2, device)
        #expect(try world.served(Book.self).map(\.stock) == [20] && device.stored(Book.self).map(\.stock) == [20])
        #expect(device.connect.outbox.deadLetters.count == 2)
        try await device.stop()
      }
    }

    @Test(
      "An action of a file that is put back keeps its numbers if it is not let in, and a page has come while it was on its way"
    )
    func restoredOnItsWay() async throws {
      var limits = SyncLimits()
      limits.actions = 1
      try await withWorld(limits: limits) { world in
        try world.serve { $0.insert(Book(id: 1, title: "A")) }
        var device = try await world.device("a")
        try await device.sync.subscribe("books").ready()
        device.connect.suspended = true
        for _ in 0..<2 { try await device.connect.forward(Restock(book: 1, count: 1)) }
        try await device.stop()
        try copy("a", to: "copy", in: world)
        device = try await world.device("a")
        try await device.sync.checkpoint()
        try await act(6, device)
        #expect(try world.served(Book.self).map(\.stock) == [18])
        try await device.stop()

        try copy("copy", to: "a", in: world)
        // Nothing leaves the device without a token.
        let (token, isSent, isHeld) = (Kept(""), Kept(false), Kept(true))
        device = try await world.device("a", token: token)
        device.route { request, transport in
          if request.isForPages {
            while !isSent.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(2)) }
            return try await transport.send(request)
          }
          isSent.withLock { $0 = true }
          guard isHeld.withLock({ $0 }) else { return try await transport.send(request) }
          while isHeld.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(2)) }
          return TransportResponse(status: 401, body: Data())
        }
        token.withLock { $0 = "user-1" }
        #expect(try await eventually { device.sync.state.withLock { $0.pages > 0 } })
        isHeld.withLock { $0 = false }
        try await device.sync.checkpoint()
        #expect(device.connect.outbox.deadLetters.map { $0.reason.contains("so old") } == [true, true])
        #expect(try world.served(Book.self).map(\.stock) == [18] && device.stored(Book.self).map(\.stock) == [18])
        try await device.stop()
      }
    }

    @Test("Two devices with copies of one file wait at the server at the same time, and get what is committed")
    func copied() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Book(id: 1, title: "A")) }
        let first = try await world.device("a")
        try await first.sync.subscribe("books").ready()
        try await first.stop()
        try copy("a", to: "b", in: world)
        let devices = [try await world.device("a"), try await world.device("b")]
        #expect(try await eventually { world.service.live.count == 2 })
        try await act(1, devices[0])
        for device in devices {
          #expect(try await eventually { try device.stored(Book.self).map(\.stock) == [11] })
        }
        #expect(try await eventually { world.service.live.count == 2 })
        for device in devices { try await device.stop() }
      }
    }
  }
#endif
