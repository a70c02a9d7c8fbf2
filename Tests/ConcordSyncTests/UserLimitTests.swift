#if Server
  import ConcordServer
  import Foundation
  import Testing

  @testable import ConcordServer
  @testable import ConcordSync

  /// What one user may take of a server, however many devices he has.
  @Suite(.timeLimit(.minutes(2)))
  struct UserLimitTests {
    private func renaming(_ key: String, book: Int = 1, device: String) -> TransportRequest {
      let message = ActionMessage(
        device: device, key: key, name: Rename.name, body: .object(["book": .integer(book), "title": .text(key)]),
        refusals: 0, since: 0)
      return TransportRequest("POST", "actions", body: Data(message.wire.bytes))
    }

    private func asking(_ device: String, _ subscription: String = "books") -> TransportRequest {
      let request = PageRequest(
        device: device, position: nil, user: nil, actions: 0, awaited: [],
        subscriptions: [.init(name: subscription, parameters: [:], known: nil)], wait: 0)
      return TransportRequest("POST", "pages", body: Data(request.wire.bytes))
    }

    private func limit(_ response: TransportResponse) throws -> String? {
      response.status == 200 ? nil : try WireValue(parsing: response.body)["limit"].text()
    }

    @Test("Actions of more devices than a user may have wait, and those of the others go on", arguments: Kind.allCases)
    func devices(_ kind: Kind) async throws {
      var limits = SyncLimits()
      limits.devicesOfUser = 2
      try await withWorld(kind, limits: limits) { world in
        try world.serve { $0.insert(Book(id: 1, title: "A")) }
        world.service.allow(Rename.self) { action, _ in action.book == 1 }
        let transport = world.service.transport(as: User(id: 1))
        #expect(try await transport.send(renaming("k1", device: "a")).status == 200)
        // A device whose action is refused has notes, too.
        #expect(try await transport.send(renaming("k2", book: 2, device: "b")).status == 200)
        for book in 1...2 {
          let response = try await transport.send(renaming("k3", book: book, device: "c"))
          #expect(try response.status == 429 && limit(response) == "devicesOfUser")
        }
        for (key, device) in [("k4", "a"), ("k5", "b"), ("k1", "c")] {
          #expect(try await transport.send(renaming(key, device: device)).status == 200)
        }
        #expect(try await world.service.transport(as: User(id: 2)).send(renaming("k3", device: "c")).status == 200)
        let device = try await world.device("d")
        try await device.sync.subscribe("books").ready()
        let events = device.connect.outbox.events
        try await device.connect.forward(Rename(book: 1, title: "D"))
        for await event in events { if case .delayed = event { break } }
        #expect(device.connect.outbox.pending.count == 1 && device.connect.outbox.deadLetters.isEmpty)
        #expect(try device.stored(Book.self).map(\.title) == ["k3"])
        try await device.stop()
      }
    }

    @Test("However much a user asks for, a thread is left for others")
    func threads() async throws {
      var limits = SyncLimits()
      (limits.concurrentRequests, limits.concurrentRequestsOfUser) = (3, 2)
      try await withWorld(limits: limits) { world in
        try world.serve { $0.insert(Book(id: 1, title: "A")) }
        let begun = Kept(0)
        let end = DispatchSemaphore(value: 0)
        world.service.allow(Rename.self) { _, user in
          if user.id != 1 { return true }
          begun.withLock { $0 += 1 }
          return end.wait(timeout: .now() + 20) == .success
        }
        try await withThrowingTaskGroup(of: Int.self) { group in
          for number in 0..<6 {
            group.addTask {
              try await world.service.transport(as: User(id: 1)).send(renaming("k\(number)", device: "a")).status
            }
          }
          // Two of them have a thread. One asks the rule, and the other waits until that one has written.
          #expect(try await eventually { begun.withLock { $0 } == 1 && world.service.workers.waitingCount == 4 })
          let other = world.service.transport(as: User(id: 2))
          async let page = other.send(asking("b"))
          #expect(try await page.status == 200)
          #expect(begun.withLock { $0 } == 1 && world.service.workers.waitingCount == 4)
          for _ in 0..<100 { end.signal() }
          for try await status in group { #expect(status == 200) }
          #expect(world.service.workers.waitingCount == 0)
        }
      }
    }

    @Test("A device says that the server has set a limit, and goes on when it has not")
    func status() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Book(id: 1, title: "A")) }
        let network = Network { _ in .answer(429, "enough") }
        let device = try await world.device("a", network: network)
        let books = device.sync.subscribe("books")
        #expect(try await eventually { device.sync.status == .offline(.limited("enough")) })
        network.set { _ in .pass }
        try await books.ready()
        try await device.stop()
      }
    }

    #if os(Linux)
      @Test("A client that does not send its request is answered, and takes no place any longer")
      func slowSender() async throws {
        var limits = SyncLimits()
        limits.bodyTime = .milliseconds(300)
        try await withWorld(limits: limits) { world in
          try world.serve { $0.insert(Book(id: 1, title: "A")) }
          let socket = try #require(HostileProxy.connection(to: world.url.port ?? 0))
          defer { close(socket) }
          let head =
            "POST /sync/pages HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer user-1\r\nContent-Length: 100\r\n\r\n{"
          let bytes = Array(head.utf8)
          #expect(bytes.withUnsafeBytes { send(socket, $0.baseAddress, bytes.count, 0) } == bytes.count)
          #expect(try await eventually { world.service.requests.count == 1 })
          #expect(try await eventually { world.service.requests.count == 0 })
          var buffer = [UInt8](repeating: 0, count: 1000)
          let count = recv(socket, &buffer, buffer.count, 0)
          #expect(String(decoding: buffer.prefix(max(0, count)), as: UTF8.self).hasPrefix("HTTP/1.1 408"))
          // Who sends in time is answered.
          #expect(try await world.service.transport(as: User(id: 1)).send(asking("e")).status == 200)
        }
      }

      @Test("A user whose devices do not read their pages gets no others, and everybody else does")
      func unread() async throws {
        var limits = SyncLimits()
        limits.unreadBytesOfUser = 1_000_000
        try await withWorld(limits: limits) { world in
          let note = String(repeating: "0123456789", count: 20_000)
          try world.serve { context in
            for id in 1...150 { context.insert(Cart(id: id, owner: 1, note: note)) }
          }
          let body = asking("d", "carts").body ?? Data()
          let socket = try #require(HostileProxy.connection(to: world.url.port ?? 0))
          let head = """
            POST /sync/pages HTTP/1.1\r
            Host: localhost\r
            Authorization: Bearer user-1\r
            Content-Length: \(body.count)\r
            \r

            """
          let bytes = Array(head.utf8) + body
          #expect(bytes.withUnsafeBytes { send(socket, $0.baseAddress, bytes.count, 0) } == bytes.count)
          #expect(try await eventually { world.service.unread.count(of: "1") > 1_000_000 })
          let response = try await world.service.transport(as: User(id: 1)).send(asking("e"))
          #expect(try response.status == 429 && limit(response) == "unreadBytesOfUser")
          #expect(response.headers["Retry-After"] == "1")
          #expect(try await world.service.transport(as: User(id: 2)).send(asking("e")).status == 200)
          close(socket)
          #expect(try await eventually { world.service.unread.count(of: "1") == 0 })
          #expect(try await world.service.transport(as: User(id: 1)).send(asking("e")).status == 200)
        }
      }
    #endif
  }
#endif
