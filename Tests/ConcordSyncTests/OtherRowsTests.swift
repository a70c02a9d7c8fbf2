#if Server
  import Concord
  import Foundation
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
