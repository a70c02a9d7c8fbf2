#if Server
  import ConcordServer
  import Foundation
  import Testing

  @testable import ConcordServer
  @testable import ConcordSync

  /// Devices that come back after a time in which the server's feed has forgotten the rows as they were.
  @Suite(.timeLimit(.minutes(2)))
  struct ReturningTests {
    /// Keeps the pages that a device gets from now on.
    private func kept(_ device: Device) -> Kept<[Data]> {
      let pages = Kept<[Data]>([])
      device.route { request, other in
        let answer = try await other.send(request)
        if request.isForPages { pages.withLock { $0.append(answer.body) } }
        return answer
      }
      return pages
    }

    @Test(
      "A device that was away for long gets the keys of its subscription, and the rows that have changed",
      arguments: Kind.allCases.filter { $0 != .memory })
    func changedRows(_ kind: Kind) async throws {
      var limits = SyncLimits()
      limits.feed = FeedLimits(changes: 5, rows: 1000)
      try await withWorld(kind, limits: limits) { world in
        try world.serve { context in
          for id in 1...60 {
            context.insert(
              Cart(
                id: id, owner: id % 2 + 1,
                lines: [Line(id: "l\(id)", text: "a", book: Book(id: id, title: "A"))]))
          }
        }
        let device = try await world.device("a")
        try await device.sync.subscribe("carts").ready()
        #expect(try device.stored(Cart.self).count == 30)
        let pages = kept(device)
        // It goes offline with a position that the feed is about to leave behind.
        device.network.set { _ in .lost }
        try world.serve { try $0.update(Cart.self, id: 2) { $0.note = "seen" } }
        #expect(try await eventually { if case .offline = device.sync.status { true } else { false } })
        for id in [3, 5, 2] { try world.serve { try $0.update(Cart.self, id: id) { $0.note = "\(id)" } } }
        for id in [7, 4] { try world.serve { try $0.update(Line.self, id: "l\(id)") { $0.text = "b" } } }
        for id in [9, 6] { try world.serve { try $0.update(Book.self, id: id) { $0.title = "B" } } }
        try world.serve { context in
          try context.update(Cart.self, id: 11) { $0.owner = 1 }
          try context.update(Cart.self, id: 2) { $0.owner = 2 }
          for id in [13, 14] { _ = try context.delete(Cart.self, id: id) }
          context.insert(Cart(id: 61, owner: 2, lines: [Line(id: "l61", book: Book(id: 61, title: "C"))]))
        }
        try world.trimFeed()
        pages.withLock { $0 = [] }
        device.network.set { _ in .pass }
        try await device.sync.checkpoint()

        let page = try Page(parsing: try #require(pages.withLock { $0.first }), try shopModel())
        let subscription = try #require(page.subscriptions.first)
        let mine = try world.served(Cart.self).filter { $0.owner == 1 }
        #expect(subscription.isWhole && subscription.left.isEmpty)
        #expect(Set(subscription.entered) == Set(mine.map { .integer(Int64($0.id)) }))
        // A row that enters has changed, and comes with all that it contains. Nothing else comes, and nothing of another user.
        let rows = Set(page.rows.map { "\($0.key.entity.name) \($0.key.id)" })
        let wanted: [(String, StoredValue)] = [
          ("Cart", .integer(11)), ("Line", .text("l11")), ("Book", .integer(11)), ("Line", .text("l4")),
          ("Book", .integer(4)), ("Book", .integer(6)),
        ]
        #expect(rows == Set(wanted.map { "\($0) \($1)" }))
        #expect(try device.stored(Cart.self) == mine)
        let contained = mine.flatMap(\.lines)
        #expect(try Set(device.stored(Line.self).map(\.id)) == Set(contained.map(\.id)))
        #expect(try Set(device.stored(Book.self).map(\.id)) == Set(contained.compactMap(\.book?.id)))
        try await device.stop()
      }
    }

    @Test(
      "A position that the feed does not know any longer costs all of the subscription",
      arguments: Kind.allCases)
    func forgotten(_ kind: Kind) async throws {
      var limits = SyncLimits()
      limits.feed = FeedLimits(changes: 5, rows: 5)
      try await withWorld(kind, limits: limits) { world in
        try world.serve { context in for id in 1...60 { context.insert(Cart(id: id, owner: id % 2 + 1)) } }
        let device = try await world.device("a")
        try await device.sync.subscribe("carts").ready()
        let pages = kept(device)
        device.network.set { _ in .lost }
        try world.serve { try $0.update(Cart.self, id: 2) { $0.note = "seen" } }
        #expect(try await eventually { if case .offline = device.sync.status { true } else { false } })
        for id in 1...40 { try world.serve { try $0.update(Cart.self, id: id) { $0.note = "x" } } }
        try world.serve { _ = try $0.delete(Cart.self, id: 50) }
        try world.trimFeed()
        pages.withLock { $0 = [] }
        device.network.set { _ in .pass }
        try await device.sync.checkpoint()
        let page = try Page(parsing: try #require(pages.withLock { $0.first }), try shopModel())
        #expect(page.subscriptions.first?.isWhole == true && page.rows.count == 29)
        #expect(try device.stored(Cart.self) == world.served(Cart.self).filter { $0.owner == 1 })
        try await device.stop()
      }
    }

    /// Asks for a page as user 1's device does, without waiting.
    private func page(_ world: World, after last: Page?) async throws -> Page {
      let request = PageRequest(
        device: "d", position: last?.position, user: last?.user, actions: 0, awaited: [],
        subscriptions: [.init(name: "carts", parameters: [:], known: last?.subscriptions.first?.condition)], wait: 0)
      let answer = try await world.service.transport(as: User(id: 1)).send(
        TransportRequest("POST", "pages", body: Data(request.wire.bytes)))
      return try Page(parsing: answer.body, world.container.model)
    }

    private func names(_ page: Page) -> Set<String> { Set(page.rows.map { "\($0.key.entity.name) \($0.key.id)" }) }

    private func name(_ entity: String, _ id: StoredValue) -> String { "\(entity) \(id)" }

    private let others = 100..<300

    /// Three carts of user 1, one of them with a line, and many of user 2.
    private func fill(_ world: World) throws {
      try world.serve { context in
        for id in 1...2 { context.insert(Cart(id: id, owner: 1)) }
        context.insert(Cart(id: 3, owner: 1, lines: [Line(id: "l3", text: "a", book: Book(id: 3, title: "A"))]))
        context.insert(Cart(id: 99, owner: 2))
        for id in others { context.insert(Cart(id: id, owner: 2)) }
      }
    }

    @Test(
      "However much other users have written, a device gets the rows that have changed for it, and is told of no other ones",
      arguments: Kind.allCases, [1, 30, 1000])
    func writtenByOthers(_ kind: Kind, _ limit: Int) async throws {
      var limits = SyncLimits()
      // The changes of others are too many to be looked through, or to be told, or neither.
      limits.differences = limit
      try await withWorld(kind, limits: limits) { world in
        try fill(world)
        var last = try await page(world, after: nil)
        #expect(last.subscriptions[0].isWhole && last.rows.count == 5)
        func next(_ body: (BackgroundContext) throws -> Void = { _ in }) async throws -> Page {
          try world.serve(body)
          try world.serve { context in for id in others { try context.update(Cart.self, id: id) { $0.note += "x" } } }
          last = try await page(world, after: last)
          return last
        }
        #expect(try await next().isEmpty)
        let changed = try await next { try $0.update(Cart.self, id: 1) { $0.note = "new" } }
        #expect(names(changed) == [name("Cart", .integer(1))])
        let inside = try await next { try $0.update(Book.self, id: 3) { $0.title = "B" } }
        #expect(names(inside) == [name("Book", .integer(3))])
        for page in [changed, inside] {
          let subscription = page.subscriptions[0]
          #expect(!subscription.isWhole && subscription.entered.isEmpty && subscription.left.isEmpty)
        }
        // A row that comes, and one that goes.
        let moved = try await next { context in
          try context.update(Cart.self, id: 2) { $0.owner = 2 }
          try context.update(Cart.self, id: 99) { $0.owner = 1 }
        }
        let subscription = moved.subscriptions[0]
        let keys: Set<StoredValue> = subscription.isWhole ? [.integer(1), .integer(3), .integer(99)] : [.integer(99)]
        #expect(Set(subscription.entered) == keys && subscription.isWhole == (limit < 1000))
        #expect(names(moved) == [name("Cart", .integer(99))])
        let gone = try await next { _ = try $0.delete(Cart.self, id: 1) }
        #expect(gone.rows.isEmpty && gone.subscriptions[0].isWhole == (limit < 1000))
        // What is known of the keys goes on from there.
        #expect(try await next().isEmpty)
      }
    }

    @Test(
      "Where positions are not hidden, keys come where others have written much, and no rows but those that have changed"
    )
    func positionsThatAreNotHidden() async throws {
      var limits = SyncLimits()
      (limits.differences, limits.hidesPositions) = (1, false)
      try await withWorld(.sqlite, limits: limits) { world in
        try fill(world)
        let first = try await page(world, after: nil)
        try world.serve { context in
          for id in others { try context.update(Cart.self, id: id) { $0.note = "x" } }
          try context.update(Cart.self, id: 1) { $0.note = "new" }
        }
        let next = try await page(world, after: first)
        #expect(next.subscriptions[0].isWhole && next.subscriptions[0].entered.count == 3)
        #expect(names(next) == [name("Cart", .integer(1))])
      }
    }
  }
#endif
