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
  }
#endif
