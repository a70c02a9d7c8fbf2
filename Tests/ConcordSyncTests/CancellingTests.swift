#if Server
  import ConcordServer
  import Foundation
  import Testing

  /// Subscriptions that end while a page of theirs is on its way.
  @Suite(.timeLimit(.minutes(2)))
  struct CancellingTests {
    /// The answers for pages that a test holds.
    private final class Held: Sendable {
      private let state = Kept((isHolding: false, count: 0))

      var count: Int { state.withLock { $0.count } }
      func hold() { state.withLock { $0.isHolding = true } }
      func release() { state.withLock { $0 = (false, 0) } }

      func follow(_ device: Device) {
        device.route { [state] request, transport in
          let response = try await transport.send(request)
          guard request.isForPages, state.withLock({ $0.isHolding }) else { return response }
          state.withLock { $0.count += 1 }
          while state.withLock({ $0.isHolding }) { try await Task.sleep(for: .milliseconds(2)) }
          return response
        }
      }
    }

    @Test("A subscription that is cancelled while its first page is on the way leaves nothing in the file")
    func firstPage() async throws {
      try await withWorld { world in
        try world.serve { context in
          context.insert(Cart(id: 1, owner: 1, lines: [Line(id: "l", book: Book(id: 1, title: "A"))]))
          context.insert(Label(id: 1, owner: 1, name: "a"))
        }
        let device = try await world.device("a")
        try await device.sync.checkpoint()
        let held = Held()
        held.follow(device)
        held.hold()
        let subscriptions = [device.sync.subscribe("carts"), device.sync.subscribe("labels")]
        #expect(try await eventually { held.count > 0 })
        for subscription in subscriptions { try await subscription.cancel() }
        held.release()
        try await device.sync.checkpoint()
        #expect(try device.stored(Cart.self).isEmpty && device.stored(Line.self).isEmpty)
        #expect(try device.stored(Book.self).isEmpty && device.stored(Label.self).isEmpty)
        // The name of the label goes to another one.
        try world.serve { context in
          try context.delete(Label.self, id: 1)
          context.insert(Label(id: 2, owner: 1, name: "a"))
        }
        try await device.sync.subscribe("labels").ready()
        #expect(try device.stored(Label.self).map(\.id) == [2])
        try await device.stop()
      }
    }

    @Test("A row that enters a subscription while it is cancelled and begun anew, and leaves it then, leaves the file")
    func begunAnew() async throws {
      try await withWorld { world in
        try world.serve { context in for id in 1...2 { context.insert(Cart(id: id, owner: 1)) } }
        let device = try await world.device("a")
        let carts = device.sync.subscribe("carts")
        try await carts.ready()
        let held = Held()
        held.follow(device)
        held.hold()
        try world.serve { $0.insert(Cart(id: 3, owner: 1)) }
        // A page that is not cancelled.
        async let checkpoint: Void = device.sync.checkpoint()
        #expect(try await eventually { held.count > 0 })
        try await carts.cancel()
        let again = device.sync.subscribe("carts")
        try world.serve { try $0.update(Cart.self, id: 3) { $0.owner = 2 } }
        held.release()
        try await again.ready()
        try await checkpoint
        #expect(try device.stored(Cart.self).map(\.id) == [1, 2])
        try await device.stop()
      }
    }

    @Test("A row of a cancelled subscription does not come back for an action without what it contains")
    func pendingAction() async throws {
      try await withWorld { world in
        try world.serve { context in context.insert(Cart(id: 1, owner: 1, lines: [Line(id: "l", text: "")])) }
        let device = try await world.device("a")
        let carts = device.sync.subscribe("carts")
        try await carts.ready()
        let (answers, isHeld, areActionsHeld) = (Kept(0), Kept(true), Kept(true))
        device.route { request, transport in
          while !request.isForPages, areActionsHeld.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(2)) }
          let response = try await transport.send(request)
          guard request.isForPages else { return response }
          answers.withLock { $0 += 1 }
          while isHeld.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(2)) }
          return response
        }
        try world.serve { try $0.update(Cart.self, id: 1) { $0.note = "new" } }
        async let checkpoint: Void = device.sync.checkpoint()
        #expect(try await eventually { answers.withLock { $0 } == 1 })
        // The cart and its line leave; then an action names it, which waits. The page has the cart, and not its line, which has not changed.
        try await carts.cancel()
        try await device.connect.forward(Append(cart: 1, text: "a"))
        isHeld.withLock { $0 = false }
        #expect(try await eventually { answers.withLock { $0 } == 2 })
        #expect(try device.stored(Cart.self).isEmpty && device.stored(Line.self).isEmpty)
        areActionsHeld.withLock { $0 = false }
        try await checkpoint
        try await device.sync.checkpoint()
        #expect(try device.stored(Cart.self).isEmpty && device.stored(Line.self).isEmpty)
        #expect(try world.served(Cart.self).map(\.note) == ["newa"])
        try await device.sync.subscribe("carts").ready()
        #expect(try device.stored(Cart.self).first?.lines.map(\.id) == ["l"])
        try await device.stop()
      }
    }

    @Test("The first page of a user who has signed out meanwhile shows the next one nothing", arguments: [true, false])
    func otherUser(_ hasPage: Bool) async throws {
      try await withWorld { world in
        try world.serve { context in for id in 1...2 { context.insert(Cart(id: id, owner: id)) } }
        let token = Kept("user-1")
        let device = try await world.device("a", token: token)
        if hasPage { try await device.sync.checkpoint() }
        let (isHolding, isHeld, seen) = (Kept(true), Kept(false), Kept<[[Int]]>([]))
        device.route { request, transport in
          let response = try await transport.send(request)
          guard request.isForPages, String(decoding: request.body ?? Data(), as: UTF8.self).contains("carts") else {
            return response
          }
          // What the pages before have left.
          let owners = try device.stored(Cart.self).map(\.owner)
          seen.withLock { $0.append(owners) }
          isHeld.withLock { $0 = true }
          while isHolding.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(2)) }
          return response
        }
        let carts = device.sync.subscribe("carts")
        #expect(try await eventually { isHeld.withLock { $0 } })
        try await device.connect.outbox.clear()
        try await carts.cancel()
        token.withLock { $0 = "user-2" }
        let again = device.sync.subscribe("carts")
        #expect(try await device.sync.subscriptions().count == 1)
        isHolding.withLock { $0 = false }
        try await again.ready()
        try await device.sync.checkpoint()
        let owners = seen.withLock { $0 }
        #expect(owners.count >= 2 && owners.allSatisfy { !$0.contains(1) }, "\(owners)")
        #expect(try device.stored(Cart.self).map(\.id) == [2])
        device.network.base.withLock { $0 = nil }
        try await device.stop()
      }
    }

    @Test("Who subscribes again while the first page is on the way gets it once")
    func subscribedAgain() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let device = try await world.device("a")
        try await device.sync.checkpoint()
        let count = Kept(0)
        device.route { request, transport in
          let text = String(decoding: request.body ?? Data(), as: UTF8.self)
          if request.isForPages, text.contains(#""known":null"#) { count.withLock { $0 += 1 } }
          return try await transport.send(request)
        }
        let held = Held()
        held.follow(device)
        held.hold()
        device.sync.subscribe("carts")
        #expect(try await eventually { held.count > 0 })
        let again = device.sync.subscribe("carts")
        #expect(try await device.sync.subscriptions().count == 1)
        held.release()
        try await again.ready()
        try await device.sync.checkpoint()
        #expect(count.withLock { $0 } == 1)
        #expect(try device.stored(Cart.self).map(\.id) == [1])
        try await device.stop()
      }
    }

    @Test("A page is not applied over that of another user, also where both end at the same position")
    func samePosition() async throws {
      var limits = SyncLimits()
      limits.hidesPositions = false
      try await withWorld(limits: limits) { world in
        try world.serve { context in for id in 1...2 { context.insert(Cart(id: id, owner: id)) } }
        // Two processes with one file, as an app and its extension.
        let first = try await world.device("a")
        try await first.sync.subscribe("carts").ready()
        let second = try await world.device("a", user: 2)
        let held = Held()
        held.follow(first)
        held.hold()
        async let checkpoint: Void = first.sync.checkpoint()
        #expect(try await eventually { held.count > 0 })
        try await second.sync.checkpoint()
        #expect(try second.stored(Cart.self).map(\.id) == [2])
        held.release()
        try await checkpoint
        try await first.sync.checkpoint()
        #expect(try first.stored(Cart.self).map(\.id) == [1])
        try await first.stop()
        try await second.stop()
      }
    }

    @Test(
      "What a dead letter names leaves with its subscription, whether a page or the app ends that",
      arguments: [true, false])
    func deadLetters(_ isCancelled: Bool) async throws {
      try await withWorld { world in
        try world.serve { context in for id in 1...2 { context.insert(Cart(id: id, owner: 1)) } }
        let device = try await world.device("a")
        let carts = device.sync.subscribe("carts")
        try await carts.ready()
        try await device.connect.forward(Unknown(cart: 1))
        try await device.sync.checkpoint()
        let letter = try #require(device.connect.outbox.deadLetters.first)
        if isCancelled {
          try await carts.cancel()
          #expect(try device.stored(Cart.self).isEmpty)
        } else {
          try world.serve { try $0.update(Cart.self, id: 1) { $0.owner = 2 } }
        }
        try await device.sync.checkpoint()
        #expect(try device.stored(Cart.self).map(\.id) == (isCancelled ? [] : [2]))
        // It is decided anew all the same.
        #expect(device.connect.outbox.retry(letter))
        try await device.sync.checkpoint()
        #expect(device.connect.outbox.deadLetters.count == 1)
        try await device.stop()
      }
    }
  }
#endif
