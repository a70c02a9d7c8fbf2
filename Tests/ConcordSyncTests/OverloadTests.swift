#if Server
  import ConcordServer
  import Foundation
  import Testing

  @testable import ConcordServer
  @testable import ConcordSync

  /// Devices and users that want more than a server gives.
  @Suite(.timeLimit(.minutes(2)))
  struct OverloadTests {
    @Test("A subscription beyond the limit is refused, and the others and the actions go on")
    func subscriptions() async throws {
      var limits = SyncLimits()
      limits.subscriptions = 2
      try await withWorld(limits: limits) { world in
        try world.serve { context in
          context.insert(Cart(id: 1, owner: 1))
          context.insert(Label(id: 1, owner: 1, name: "a"))
          context.insert(Book(id: 1, title: "A"))
        }
        let device = try await world.device("a")
        for name in ["carts", "labels"] { try await device.sync.subscribe(name).ready() }
        let books = device.sync.subscribe("books")
        await #expect(
          throws: SyncError.refused(subscription: "books", reason: "a device has at most 2 subscriptions")
        ) { try await books.ready() }
        try await device.connect.forward(Append(cart: 1, text: "x"))
        try await device.sync.checkpoint()
        #expect(try device.stored(Cart.self).map(\.note) == ["x"])
        // The one that is refused takes no place from another when it is asked for again.
        device.sync.outboxDidChange()
        try await device.sync.checkpoint()
        #expect(try device.stored(Label.self).map(\.id) == [1] && device.stored(Book.self).isEmpty)
        try await device.stop()
      }
    }

    @Test("Whether the store can be read is told while all who may use it are busy")
    func health() async throws {
      var limits = SyncLimits()
      limits.concurrentRequests = 1
      try await withWorld(limits: limits) { world in
        try world.serve { $0.insert(Book(id: 1, title: "A")) }
        let isBusy = Kept(false)
        let end = DispatchSemaphore(value: 0)
        world.service.allow(Rename.self) { _, _ in
          isBusy.withLock { $0 = true }
          return end.wait(timeout: .now() + 20) == .success
        }
        let message = ActionMessage(
          device: "d", key: "k", name: Rename.name, body: .object(["book": .integer(1), "title": .text("B")]),
          refusals: 0, since: 0)
        async let answer = world.service.transport(as: User(id: 1)).send(
          TransportRequest("POST", "actions", body: Data(message.wire.bytes)))
        #expect(try await eventually { isBusy.withLock { $0 } })
        let health = try? await HTTPTransport(baseURL: world.url, timeout: .seconds(5)).send(
          TransportRequest("GET", "health/ready"))
        #expect(health?.status == 200)
        end.signal()
        #expect(try await ActionDecision(WireValue(parsing: answer.body)) == .accepted)
      }
    }

    /// A request with an action whose rule waits.
    private func renaming(_ number: Int) -> TransportRequest {
      let message = ActionMessage(
        device: "d", key: "k\(number)", name: Rename.name,
        body: .object(["book": .integer(1), "title": .text("\(number)")]), refusals: 0, since: 0)
      return TransportRequest("POST", "actions", body: Data(message.wire.bytes))
    }

    private func asking(_ device: String) -> TransportRequest {
      let request = PageRequest(
        device: device, position: nil, user: nil, actions: 0, awaited: [],
        subscriptions: [.init(name: "books", parameters: [:], known: nil)], wait: 0)
      return TransportRequest("POST", "pages", body: Data(request.wire.bytes))
    }

    @Test("Users take turns, and so do pages and actions of one of them", arguments: [1, 2])
    func turns(_ user: Int) async throws {
      var limits = SyncLimits()
      limits.concurrentRequests = 1
      try await withWorld(limits: limits) { world in
        try world.serve { $0.insert(Book(id: 1, title: "A")) }
        let begun = Kept(0)
        let end = DispatchSemaphore(value: 0)
        world.service.allow(Rename.self) { _, _ in
          begun.withLock { $0 += 1 }
          return end.wait(timeout: .now() + 20) == .success
        }
        try await withThrowingTaskGroup(of: Int.self) { group in
          for number in 0..<50 {
            group.addTask { try await world.service.transport(as: User(id: 1)).send(renaming(number)).status }
          }
          #expect(try await eventually { begun.withLock { $0 } == 1 && world.service.workers.waitingCount == 49 })
          async let page = world.service.transport(as: User(id: user)).send(asking("e"))
          #expect(try await eventually { world.service.workers.waitingCount == 50 })
          // A request takes two turns, and each waits for the one that has begun and for one more at the most.
          end.signal()
          #expect(try await eventually { begun.withLock { $0 } == 2 })
          end.signal()
          // The page's first turn is over, and it waits for its second one beside the other 47.
          #expect(try await eventually { begun.withLock { $0 } == 3 && world.service.workers.waitingCount == 48 })
          end.signal()
          #expect(try await page.status == 200)
          #expect(try await eventually { begun.withLock { $0 } == 4 })
          for _ in 0..<200 { end.signal() }
          for try await status in group { #expect(status == 200) }
        }
      }
    }

    @Test("Who has too many requests in progress is told so at once, and others are not")
    func requestsInProgress() async throws {
      var limits = SyncLimits()
      (limits.requestsOfUser, limits.requests) = (3, 5)
      try await withWorld(limits: limits) { world in
        try world.serve { $0.insert(Book(id: 1, title: "A")) }
        let end = DispatchSemaphore(value: 0)
        let begun = Kept(0)
        world.service.allow(Rename.self) { _, _ in
          begun.withLock { $0 += 1 }
          return end.wait(timeout: .now() + 20) == .success
        }
        try await withThrowingTaskGroup(of: Int.self) { group in
          for user in [1, 1, 1, 2, 2] {
            let number = group.isEmpty ? 0 : Int.random(in: 1...1_000_000)
            group.addTask { try await world.service.transport(as: User(id: user)).send(renaming(number)).status }
          }
          #expect(try await eventually { world.service.requests.count == 5 })
          let mine = try await world.service.transport(as: User(id: 1)).send(asking("e"))
          #expect(mine.status == 429 && mine.headers["Retry-After"] == "1")
          let other = try await world.service.transport(as: User(id: 3)).send(asking("e"))
          #expect(other.status == 503 && other.headers["Retry-After"] == "1")
          for _ in 0..<5 { end.signal() }
          for try await status in group { #expect(status == 200) }
          #expect(world.service.requests.count == 0)
          #expect(try await world.service.transport(as: User(id: 1)).send(asking("e")).status == 200)
        }
      }
    }

    @Test("A request that is cancelled while it waits for its turn takes none")
    func cancelled() async throws {
      var limits = SyncLimits()
      limits.concurrentRequests = 1
      try await withWorld(limits: limits) { world in
        try world.serve { $0.insert(Book(id: 1, title: "A")) }
        let begun = Kept(0)
        let end = DispatchSemaphore(value: 0)
        world.service.allow(Rename.self) { _, _ in
          begun.withLock { $0 += 1 }
          return end.wait(timeout: .now() + 20) == .success
        }
        async let first = world.service.transport(as: User(id: 1)).send(renaming(0)).status
        #expect(try await eventually { begun.withLock { $0 } == 1 })
        let second = Task { try await world.service.transport(as: User(id: 1)).send(renaming(1)) }
        #expect(try await eventually { world.service.workers.waitingCount == 1 })
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(world.service.workers.waitingCount == 0 && world.service.requests.count == 1)
        end.signal()
        #expect(try await first == 200)
        #expect(begun.withLock { $0 } == 1)
      }
    }
  }
#endif
