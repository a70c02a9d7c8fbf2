#if Server
  import Concord
  import ConcordTestSupport
  import Foundation
  import MetricsTestKit
  import Testing

  @testable import ConcordServer
  @testable import ConcordSync

  /// Publications whose predicates look at other rows than those of their entities, so that any commit may change what they hold for.
  @Suite(.timeLimit(.minutes(2)))
  struct OtherRowsTests {
    /// Asks as a client that somebody has written himself.
    private func page(
      _ world: World, _ title: String, after last: Page?, wait: Double = 0, position: String? = nil
    ) async throws -> Page {
      let request = PageRequest(
        device: "d", position: position ?? last?.position, user: last?.user, actions: 0, awaited: [],
        subscriptions: [
          .init(
            name: "with-book", parameters: ["title": .text(title)], known: last?.subscriptions.first?.condition)
        ], wait: wait)
      let answer = try await world.service.transport(as: User(id: 2)).send(
        TransportRequest("POST", "pages", body: Data(request.wire.bytes)))
      return try Page(parsing: answer.body, world.container.model)
    }

    @Test(
      "A request that waits for what looks at other rows is not answered by commits that change nothing of it",
      arguments: Kind.allCases, ["nothing", "x"])
    func othersCommits(_ kind: Kind, _ title: String) async throws {
      try await withWorld(kind) { world in
        try world.serve { context in
          context.insert(Cart(id: 1, owner: 2, lines: [Line(id: "l1", text: "x", book: Book(id: 1, title: "A"))]))
          context.insert(Cart(id: 2, owner: 1, lines: [Line(id: "l2", text: "y", book: Book(id: 2, title: "B"))]))
        }
        func commit(_ number: Int) throws {
          try world.serve { context in
            try context.update(Cart.self, id: 2) { $0.note = "\(number)" }
            try context.update(Line.self, id: "l2") { $0.text = "y\(number)" }
            try context.update(Book.self, id: 2) { $0.title = "B\(number)" }
          }
        }
        var last = try await page(world, title, after: nil)
        #expect(last.subscriptions[0].isWhole && last.subscriptions[0].entered.count == (title == "x" ? 1 : 0))
        // Also one that asks without waiting learns of none.
        try commit(0)
        last = try await page(world, title, after: last)
        #expect(last.isEmpty)
        for round in 1...2 {
          let (begin, known) = (ContinuousClock.now, last)
          async let waiting = page(world, title, after: known, wait: 1.5)
          for number in 1...5 {
            try await Task.sleep(for: .milliseconds(100))
            try commit(round * 10 + number)
          }
          last = try await waiting
          #expect(last.isEmpty && ContinuousClock.now - begin >= .seconds(1.5))
        }
        // What concerns it is sent at once: a row that comes, one that changes inside, and one that leaves.
        for (count, change) in [
          (2, { try $0.update(Line.self, id: "l2") { $0.text = title } }),
          (2, { try $0.update(Book.self, id: 2) { $0.title = "C" } }),
          (1, { try $0.update(Line.self, id: "l2") { $0.text = "z" } }),
        ] as [(Int, (BackgroundContext) throws -> Void)] {
          let (begin, known) = (ContinuousClock.now, last)
          async let waiting = page(world, title, after: known, wait: 25)
          try await Task.sleep(for: .milliseconds(100))
          try world.serve(change)
          last = try await waiting
          #expect(last.subscriptions[0].isWhole && ContinuousClock.now - begin < .seconds(10))
          #expect(last.subscriptions[0].entered.count == count - (title == "x" ? 0 : 1))
          #expect(try await page(world, title, after: last).isEmpty)
        }
      }
    }

    @Test("A position says what a device has of one condition, and without that the whole is sent")
    func claims() async throws {
      try await withWorld(.memory) { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 2, lines: [Line(id: "l1", text: "x")])) }
        let first = try await page(world, "x", after: nil)
        try world.serve { $0.insert(Cart(id: 2, owner: 1)) }
        // The position of a page of another condition, and one that names none, as that of an earlier release.
        let other = try await page(world, "other", after: nil)
        let seal = try world.service.prepare().seal
        let none = seal.closed(try #require(seal.opened(first.position)).position)
        for position in [other.position, none, "AAAA"] {
          let next = try await page(world, "x", after: first, position: position)
          #expect(next.subscriptions[0].isWhole && next.subscriptions[0].entered == [.integer(1)])
          #expect(try await page(world, "x", after: next).isEmpty)
        }
        // What was equal is sent when it is asked for anew.
        #expect(try await page(world, "x", after: nil).rows.count == 2)
      }
    }

    @Test(
      "What differs between subscriptions with one condition is not in a position, and what has not changed is in the next one"
    )
    func differing() async throws {
      try await withWorld(.memory) { world in
        let seal = try world.service.prepare().seal
        let (a, b) = (seal.digest("a"), seal.digest("b"))
        func result(_ position: String, _ condition: String) throws -> String? {
          try #require(seal.opened(position)).result(of: condition)
        }
        for (results, expected) in [([a, a], a), ([a, b], nil), ([b, nil], nil), ([nil], nil), ([b], b)]
          as [([String?], String?)]
        {
          let states = results.map { SyncSeal.State(condition: "c", result: $0) }
          let position = seal.closed(
            StorePosition(rawValue: "1.1"), having: states + [.init(condition: "d", result: b)])
          #expect(try result(position, "c") == expected && result(position, "d") == b)
        }
        func ask(_ position: String?, _ condition: String?) async throws -> Page {
          let request = PageRequest(
            device: "d", position: position, user: position == nil ? nil : "1", actions: 0, awaited: [],
            subscriptions: [.init(name: "carts", parameters: [:], known: condition)], wait: 0)
          let answer = try await world.service.transport(as: User(id: 1)).send(
            TransportRequest("POST", "pages", body: Data(request.wire.bytes)))
          return try Page(parsing: answer.body, world.container.model)
        }
        let first = try await ask(nil, nil)
        let condition = first.subscriptions[0].condition
        let keys = try #require(try result(first.position, condition))
        let next = try await ask(first.position, condition)
        #expect(try !next.subscriptions[0].isWhole && result(next.position, condition) == keys)
        // A page that names none, as that of an earlier release.
        let own = try #require(seal.opened(first.position)).position
        let unknown = try await ask(seal.closed(own, having: [.init(condition: condition)]), condition)
        #expect(try !unknown.subscriptions[0].isWhole && result(unknown.position, condition) == nil)
      }
    }

    @Test("A request that is woken again and again pauses between its readings, until its time is over at most")
    func pause() async throws {
      let server = try ServerContainer.inMemory(try shopModel())
      @Sendable func serve(_ body: (BackgroundContext) throws -> Void) throws {
        let context = server.newBackgroundContext()
        try body(context)
        try context.save()
      }
      try serve { context in
        context.insert(Cart(id: 1, owner: 2, lines: [Line(id: "l1", text: "x")]))
        context.insert(Cart(id: 2, owner: 1))
      }
      let (clock, metrics) = (VirtualClock(), TestMetrics())
      let service = shopService(server, SyncLimits(), Kept(0), metrics, clock: clock)
      @Sendable func ask(after last: Page?, wait: Double = 0) async throws -> Page {
        let request = PageRequest(
          device: "d", position: last?.position, user: last?.user, actions: 0, awaited: [],
          subscriptions: [
            .init(name: "with-book", parameters: ["title": .text("x")], known: last?.subscriptions.first?.condition)
          ], wait: wait)
        let answer = try await service.transport(as: User(id: 2)).send(
          TransportRequest("POST", "pages", body: Data(request.wire.bytes)))
        return try Page(parsing: answer.body, server.model)
      }
      func readings() throws -> Int { try metrics.expectTimer("concord_sync_page_duration").values.count }
      let first = try await ask(after: nil)
      let before = try readings()
      let answer = Kept<Page?>(nil)
      let waiting = Task {
        let page = try await ask(after: first, wait: 20)
        answer.withLock { $0 = page }
      }
      await clock.sleepers(atLeast: 1)
      // Less is left than the pause after any reading.
      clock.advance(by: .seconds(20) - .microseconds(1))
      for number in 1...20 {
        try serve { try $0.update(Cart.self, id: 2) { $0.note = "\(number)" } }
        try await Task.sleep(for: .milliseconds(20))
      }
      // At first, and when it was woken first.
      #expect(try readings() <= before + 2 && answer.withLock { $0 == nil })
      clock.advance(by: .microseconds(1))
      #expect(try await eventually { answer.withLock { $0 != nil } })
      #expect(answer.withLock { $0?.isEmpty } == true)
      // A longer pause ends, too.
      clock.advance(by: .seconds(20))
      try await waiting.value
    }

    @Test("A device that waits for what looks at other rows asks no oftener while others commit")
    func device() async throws {
      try await withWorld { world in
        try world.serve { context in
          context.insert(Cart(id: 1, owner: 2, lines: [Line(id: "l1", text: "x")]))
          context.insert(Cart(id: 2, owner: 1))
        }
        let requests = Kept(0)
        let device = try await world.device(
          "a", user: 2,
          network: Network { request in
            if request.isForPages { requests.withLock { $0 += 1 } }
            return .pass
          })
        try await device.sync.subscribe("with-book", ["title": .text("x")]).ready()
        try await device.sync.subscribe("carts").ready()
        #expect(try await eventually { world.service.live.count == 1 })
        let before = requests.withLock { $0 }
        for number in 1...10 {
          try world.serve { try $0.update(Cart.self, id: 2) { $0.note = "\(number)" } }
          try await Task.sleep(for: .milliseconds(50))
        }
        #expect(requests.withLock { $0 } == before)
        try world.serve { try $0.update(Line.self, id: "l1") { $0.text = "y" } }
        #expect(try await eventually { try device.stored(Line.self).map(\.text) == ["y"] })
        try await device.stop()
      }
    }
  }
#endif
