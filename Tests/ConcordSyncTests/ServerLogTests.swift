#if Server
  import Concord
  import Foundation
  import Logging
  import Testing

  @testable import ConcordServer
  @testable import ConcordSync

  /// What a server tells whoever operates it.
  @Suite(.timeLimit(.minutes(2)))
  struct ServerLogTests {
    @Test(
      "A failing store, a failing authentication and a publication that cannot be served are logged once, and nothing of users"
    )
    func failures() async throws {
      let lines = Kept<[[String: String]]>([])
      @Sendable func line(_ start: String) -> [[String: String]] {
        lines.withLock { $0.filter { $0["message"]?.hasPrefix(start) ?? false } }
      }
      try await withWorld(log: Logger(label: "shop") { _ in KeptLines(lines: lines) }) { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        // Of a type that is not in the model.
        world.service.publish("foreign", of: Wish.self) { _, _ in #Predicate<Wish> { $0.isGranted } }
        let device = try await world.device("a", wait: .zero)
        try await device.sync.subscribe("carts").ready()
        #expect(line("synchronisation begins").count == 1 && line("the store").isEmpty)
        try world.write("ALTER TABLE Cart RENAME TO Elsewhere")
        try await device.connect.forward(Append(cart: 1, text: "words of the user"))
        device.sync.poke()
        #expect(try await eventually { if case .offline(.unreachable) = device.sync.status { true } else { false } })
        #expect(try await eventually { !line("the store").isEmpty })
        try await Task.sleep(for: .milliseconds(300))
        let store = line("the store")
        #expect(store.count == Set(store).count && store.allSatisfy { $0["level"] == "error" }, "\(store)")
        #expect(store.contains { $0["reason"] == "the store 'Shop.sqlite' was migrated to a newer model" }, "\(store)")
        try world.write("ALTER TABLE Elsewhere RENAME TO Cart")
        try await device.sync.checkpoint()

        let foreign = device.sync.subscribe("foreign", ["of": .text("a secret")])
        await #expect(throws: SyncError.refused(subscription: "foreign", reason: "it cannot be served")) {
          try await foreign.ready()
        }
        #expect(
          line("a publication") == [
            [
              "message": "a publication cannot be served: its subscriptions are refused", "level": "error",
              "publication": "foreign", "reason": "ConcordModel.StoreError.unknownEntity",
            ]
          ], "\(line("a publication"))")

        let stranger = try await world.device("b", token: Kept("user-unknown"))
        for _ in 1...3 {
          stranger.sync.poke()
          #expect(try await eventually { stranger.sync.status == .offline(.unauthorized) })
        }
        #expect(
          line("the closure") == [
            [
              "message": "the closure that authenticates fails: its requests are answered with 401",
              "level": "warning", "reason": "ConcordSyncTests.UsersUnreadable",
            ]
          ], "\(line("the closure"))")
        try await stranger.stop()
        try await device.stop()
      }
      #expect(line("synchronisation ends").count == 1)
      let all = lines.withLock { "\($0)" }
      for word in ["secret", "user-", "words"] { #expect(!all.contains(word), "\(all)") }
    }

    @Test(
      "Rows without an answer are one line for a publication, however many rows and pages there are, and 1,000 are counted",
      arguments: [(999, "999"), (1500, "1000 or more")])
    func manyUnansweredRows(_ count: Int, _ told: String) async throws {
      let lines = Kept<[[String: String]]>([])
      try await withWorld(.memory, log: Logger(label: "shop") { _ in KeptLines(lines: lines) }) { world in
        // A client chooses the number by a parameter.
        world.service.publish("divided", of: Book.self) { _, parameters in
          let zero = Int(parameters["zero"]?.number ?? 0)
          return #Predicate<Book> { 10 / ($0.stock - zero) > 0 }
        }
        try world.serve { context in
          for id in 1...count { context.insert(Book(id: id, title: "\(id)", stock: 5)) }
        }
        let transport = world.service.transport(as: User(id: 1))
        for _ in 1...3 {
          let request = PageRequest(
            device: "d", position: nil, user: nil, actions: 0, awaited: [],
            subscriptions: [.init(name: "divided", parameters: ["zero": .number(5)], known: nil)], wait: 0)
          let answer = try await transport.send(TransportRequest("POST", "pages", body: Data(request.wire.bytes)))
          #expect(try Page(parsing: answer.body, world.container.model).rows.isEmpty && answer.status == 200)
        }
      }
      let found = lines.withLock { $0.filter { $0["entity"] == "Book" } }
      #expect(found.map { $0["rows"] } == [told], "\(found.count) lines")
      #expect(found.allSatisfy { $0["publication"] == "divided" && $0["id"] != nil })
    }

    @Test("A row that has got an answer is sent, and is not logged as one without")
    func mendedRow() async throws {
      let (lines, later) = (Kept<[[String: String]]>([]), Kept<[[String: String]]>([]))
      try await withWorld(.sqlite, log: Logger(label: "shop") { _ in KeptLines(lines: lines) }) { world in
        // Another server of the store, which has logged nothing.
        let other = shopService(world.container, logger: Logger(label: "shop") { _ in KeptLines(lines: later) })
        for service in [world.service, other] {
          service.publish("divided", of: Book.self) { _, _ in #Predicate<Book> { 10 / $0.stock > 0 } }
        }
        func page(_ service: SyncService<User>, after last: Page?) async throws -> Page {
          let request = PageRequest(
            device: "d", position: last?.position, user: last?.user, actions: 0, awaited: [],
            subscriptions: [.init(name: "divided", parameters: [:], known: last?.subscriptions.first?.condition)],
            wait: 0)
          let answer = try await service.transport(as: User(id: 1)).send(
            TransportRequest("POST", "pages", body: Data(request.wire.bytes)))
          return try Page(parsing: answer.body, world.container.model)
        }
        try world.serve { $0.insert(Book(id: 1, title: "A", stock: 0)) }
        let first = try await page(world.service, after: nil)
        #expect(first.rows.isEmpty && lines.withLock { $0.contains { $0["id"] == "1" } })
        try world.serve { try $0.update(Book.self, id: 1) { $0.stock = 3 } }
        let second = try await page(other, after: first)
        #expect(second.rows.map(\.key.id) == [.integer(1)] && second.subscriptions.first?.isWhole == false)
        #expect(later.withLock { $0.isEmpty }, "\(later.withLock { $0 })")
      }
    }

    @Test("A full table of lines keeps what it has, and forgets nothing before its time")
    func fullTable() {
      let lines = Kept<[[String: String]]>([])
      let log = ServerLog(Logger(label: "shop") { _ in KeptLines(lines: lines) })
      for _ in 1...2 {
        for id in 1...1500 { log.damagedRow(entity: "Book", id: "\(id)", column: "stock", reason: "") }
      }
      #expect(lines.withLock { $0.count } == 1000)
    }
  }
#endif
