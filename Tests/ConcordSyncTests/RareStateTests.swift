#if Server
  import Concord
  @testable import ConcordConnect
  @testable import ConcordPersistence
  @testable import ConcordServer
  @testable import ConcordSync
  import Foundation
  import GRDB
  import Metrics
  import Testing

  /// What goes wrong in rare states, each of which was met.
  @Suite(.timeLimit(.minutes(3)))
  struct RareStateTests {
    @Test("Another condition of a publication gives and takes rows, without a commit", arguments: Kind.allCases)
    func conditions(_ kind: Kind) async throws {
      try await withWorld(kind) { world in
        try world.serve { context in
          context.insert(Cart(id: 1, owner: 1, weight: 0.5, lines: [Line(id: "l1", book: Book(id: 1, title: "A"))]))
          context.insert(Cart(id: 2, owner: 1, weight: 5))
        }
        let device = try await world.device("a")
        try await device.sync.subscribe("carts").ready()
        #expect(try device.stored(Cart.self).map(\.id) == [1, 2])
        world.rules.withLock { $0 = 2 }
        try await device.sync.checkpoint()
        #expect(try device.stored(Cart.self).map(\.id) == [2])
        #expect(try device.stored(Line.self).isEmpty && device.stored(Book.self).isEmpty)
        world.rules.withLock { $0 = 0 }
        try await device.sync.checkpoint()
        #expect(try device.stored(Cart.self) == world.served(Cart.self))
        try await device.stop()
      }
    }

    @Test("A device does not ask again and again for an action that the server has accepted and lost")
    func lostAction() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let device = try await world.device("a")
        try await device.sync.subscribe("carts").ready()
        let counts = Kept((pages: 0, actions: 0))
        device.network.set { request in
          counts.withLock { counts in if request.isForPages { counts.pages += 1 } else { counts.actions += 1 } }
          return request.isForPages ? .pass : .answer(200, #"{"state": "accepted"}"#)
        }
        try await device.connect.forward(Append(cart: 1, text: "x"))
        #expect(try await eventually { counts.withLock { $0.actions >= 4 } })
        let (pages, actions) = counts.withLock { $0 }
        #expect(pages <= 3 * actions + 3)
        device.network.set { _ in .pass }
        try await device.sync.checkpoint()
        #expect(try device.stored(Cart.self).map(\.note) == ["x"])
        try await device.stop()
      }
    }

    /// Asks for a page as a device does that somebody has written himself.
    private func page(
      _ world: World, _ user: Int = 1, device: String = "d", from position: String?, known: String? = nil, wait: Int = 0
    )
      async throws -> WireValue
    {
      let transport = HTTPTransport(baseURL: world.url, timeout: .seconds(40))
      let request = PageRequest(
        device: device, position: position, user: position == nil ? nil : "\(user)", actions: 0, awaited: [],
        subscriptions: [.init(name: "carts", parameters: [:], known: known)], wait: Double(wait))
      let response = try await transport.send(
        TransportRequest(
          "POST", "pages", headers: ["Authorization": "Bearer user-\(user)"], body: Data(request.wire.bytes)))
      guard response.status == 200 else { return .integer(response.status) }
      return try WireValue(parsing: try #require(response.body.split(separator: 0x0A).first))
    }

    @Test("A position tells nothing of what other users write", arguments: Kind.allCases)
    func positions(_ kind: Kind) async throws {
      try await withWorld(kind) { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let first = try await page(world, from: nil)
        let condition = try first["subscriptions"].array()[0]["condition"].text()
        var position: String? = try first["position"].text()
        var texts: Set<String> = []
        var answers: Set<String> = []
        // Without a commit, and after one, ten, and more of another user than a position has digits.
        for commits in [0, 0, 1, 10, 120] {
          for number in 0..<commits {
            try world.serve { $0.insert(Cart(id: commits * 1000 + number, owner: 2)) }
          }
          let head = try await page(world, from: position, known: condition)
          let next = try head["position"].text()
          texts.insert(next)
          #expect(next.utf8.count == texts.first?.utf8.count)
          // The rest is the same.
          guard case .object(var members) = head else { throw WireError("no head") }
          (members["position"], members["from"]) = (nil, nil)
          answers.insert(WireValue.object(members).json)
          position = next
        }
        #expect(texts.count == 5 && answers.count == 1)
        // One that somebody else has made, and one that was changed.
        func isWhole(_ position: String?) async throws -> Bool {
          try await page(world, from: position, known: condition)["subscriptions"].array()[0]["whole"].bool()
        }
        #expect(try await !isWhole(position))
        #expect(try await isWhole(position.map { String($0.reversed()) }))
        #expect(try await isWhole("1.1"))
      }
    }

    @Test("A request that nothing concerns moves its position on", arguments: Kind.allCases)
    func idlePositions(_ kind: Kind) async throws {
      try await withWorld(kind) { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let head = try await page(world, from: nil)
        let condition = try head["subscriptions"].array()[0]["condition"].text()
        let first = try head["position"].text()
        async let waiting = page(world, from: first, known: condition, wait: 2)
        try #require(try await eventually { !world.service.live.isIdle })
        for id in 2...50 {
          try world.serve { $0.insert(Cart(id: id, owner: 2)) }
          try await Task.sleep(for: .milliseconds(5))
        }
        let next = try await waiting["position"].text()
        let seal = try world.service.prepare().seal
        func number(_ text: String) throws -> Int {
          try #require(seal.opened(text)?.position.rawValue.split(separator: ".").last.flatMap { Int($0) })
        }
        #expect(try number(next) > number(first))
      }
    }

    @Test(
      "The keys of early actions are forgotten, and a request that comes later still has no effect",
      arguments: Kind.allCases)
    func forgottenKeys(_ kind: Kind) async throws {
      var limits = SyncLimits()
      limits.actions = 3
      try await withWorld(kind, limits: limits) { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let device = try await world.device("a")
        try await device.sync.subscribe("carts").ready()
        let sent = Kept<[TransportRequest]>([])
        device.network.set { request in
          if !request.isForPages { sent.withLock { $0.append(request) } }
          return .pass
        }
        for number in 0..<8 {
          try await device.connect.forward(Append(cart: 1, text: "\(number)."))
          if number % 3 == 0 { try await device.connect.forward(Give(cart: 9, owner: 1)) }
          try await device.sync.checkpoint()
        }
        let note = "0.1.2.3.4.5.6.7."
        #expect(try world.served(Cart.self).first?.note == note)
        let store = try #require(world.container.persistentStoreCoordinator.persistentStores.first?.rows)
        func count(_ space: String) throws -> Int {
          try store.read { reading in
            var count = 0
            try reading.notes(in: space, after: nil) { _, _ in
              count += 1
              return true
            }
            return count
          }
        }
        // The last ones are known, and the one that was decided after the pages of these.
        #expect(try (3...8).contains(count("sync.decisions 1")))
        let transport = HTTPTransport(baseURL: world.url)
        for request in sent.withLock({ $0 }) {
          let answer = try await transport.send(request)
          #expect(answer.status == 200)
        }
        #expect(try world.served(Cart.self).first?.note == note)
        try await device.stop()
      }
    }

    @Test("What was refused so long ago that it is forgotten is not accepted when the network brings it again")
    func forgottenRefusals() async throws {
      var limits = SyncLimits()
      limits.actions = 2
      try await withWorld(limits: limits) { world in
        try world.serve { $0.insert(Book(id: 1, title: "A")) }
        let isAllowed = Kept(false)
        world.service.allow(Rename.self) { _, _ in isAllowed.withLock { $0 } }
        let transport = world.service.transport(as: User(id: 1))
        func rename(_ number: Int, sinceRefused: Int) async throws -> ActionDecision {
          let message = ActionMessage(
            device: "d", key: "k\(number)", name: Rename.name,
            body: .object(["book": .integer(1), "title": .text("\(number)")]), refusals: 0, since: 0,
            sinceRefused: Int64(sinceRefused))
          let answer = try await transport.send(TransportRequest("POST", "actions", body: Data(message.wire.bytes)))
          return try ActionDecision(WireValue(parsing: answer.body))
        }
        for number in 0..<6 {
          #expect(try await rename(number, sinceRefused: number) == .refused(reason: "it is not allowed"))
        }
        isAllowed.withLock { $0 = true }
        // The first ones are forgotten, the last one is known.
        for number in [0, 1, 5] { #expect(try await rename(number, sinceRefused: number) != .accepted) }
        #expect(try world.served(Book.self).map(\.title) == ["A"])
        #expect(try await rename(6, sinceRefused: 6) == .accepted)
        // Who says nothing of pages gets the next ones decided nevertheless.
        isAllowed.withLock { $0 = false }
        for number in 10..<20 { _ = try await rename(number, sinceRefused: 6) }
        isAllowed.withLock { $0 = true }
        #expect(try await rename(20, sinceRefused: 6) == .accepted)
        // What is noted of refusals does not grow with their number.
        let file = try #require(world.container.persistentStoreCoordinator.persistentStores.first?.url)
        let queue = try DatabaseQueue(path: file.path)
        defer { try? queue.close() }
        func notes() throws -> Int {
          try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM concord_notes") } ?? 0
        }
        isAllowed.withLock { $0 = false }
        for number in 30..<60 { _ = try await rename(number, sinceRefused: number) }
        let early = try notes()
        for number in 60..<90 { _ = try await rename(number, sinceRefused: number) }
        #expect(try notes() == early)
      }
    }

    @Test(
      "Nobody learns what has left a condition that no page has named for his position", arguments: Kind.allCases)
    func earlierPositions(_ kind: Kind) async throws {
      try await withWorld(kind) { world in
        try world.serve { context in for id in 1...2 { context.insert(Cart(id: id, owner: 1, weight: 0.5)) } }
        // Light carts are none of the user's business.
        world.rules.withLock { $0 = 2 }
        let early = try await page(world, from: nil)
        try world.serve { try $0.update(Cart.self, id: 1) { $0.owner = 2 } }
        world.rules.withLock { $0 = 0 }
        let late = try await page(world, from: nil)
        let condition = try late["subscriptions"].array()[0]["condition"].text()
        let answer = try await page(world, from: try early["position"].text(), known: condition)
        #expect(try answer["subscriptions"].array()[0]["whole"].bool())
        // Who has had it is told the difference.
        let next = try await page(world, from: try late["position"].text(), known: condition)
        #expect(try !next["subscriptions"].array()[0]["whole"].bool())
      }
    }

    @Test("A device with many refused actions goes on with others")
    func manyRefusals() async throws {
      var limits = SyncLimits()
      limits.actions = 2
      try await withWorld(limits: limits) { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let device = try await world.device("a")
        try await device.sync.subscribe("carts").ready()
        for round in 0..<3 {
          for _ in 0..<8 { try await device.connect.forward(Give(cart: 9, owner: 1)) }
          try await device.connect.forward(Append(cart: 1, text: "\(round)."))
          try await device.sync.checkpoint()
        }
        #expect(try device.stored(Cart.self).map(\.note) == ["0.1.2."])
        #expect(try world.served(Cart.self).map(\.note) == ["0.1.2."])
        try await device.stop()
      }
    }

    @Test("One user does not take the places of all, and a device has one")
    func places() async throws {
      var limits = SyncLimits()
      limits.waitingDevicesOfUser = 3
      try await withWorld(limits: limits) { world in
        let head = try await page(world, from: nil)
        let condition = try head["subscriptions"].array()[0]["condition"].text()
        let position = try head["position"].text()
        func wait(_ device: String, _ user: Int = 1) -> Task<WireValue, any Error> {
          Task {
            let head = try await page(world, user, device: device, from: nil)
            return try await page(
              world, user, device: device, from: try head["position"].text(),
              known: try head["subscriptions"].array()[0]["condition"].text(), wait: 20)
          }
        }
        let first = wait("a")
        #expect(try await eventually { world.service.live.count == 1 })
        // The same device asks again, since its connection broke.
        let second = wait("a")
        _ = try await first.value
        let waiting = [second, wait("b"), wait("c")]
        #expect(try await eventually { world.service.live.count == 3 })
        #expect(try await page(world, device: "d", from: position, known: condition, wait: 20) == .integer(429))
        let other = wait("d", 2)
        #expect(try await eventually { world.service.live.count == 4 })
        for task in waiting + [other] { task.cancel() }
      }
    }

    @Test("Rows that other programs remove while others refer to them leave the devices", arguments: [0, 1])
    func danglingRows(_ way: Int) async throws {
      try await withWorld(.sqlite) { world in
        try world.serve { context in
          context.insert(
            Cart(id: 1, owner: 1, lines: [Line(id: "l1", book: Book(id: 1, title: "A")), Line(id: "l2")]))
        }
        let device = try await world.device("a")
        try await device.sync.subscribe("carts").ready()
        device.network.set { _ in .lost }
        try world.write("DELETE FROM Line WHERE id = 'l1'; DELETE FROM Book")
        // Another feed, so that all is sent.
        if way == 1 { try world.write("UPDATE concord_feed SET epoch = epoch + 1") }
        device.network.set { _ in .pass }
        try await device.sync.checkpoint()
        #expect(try device.stored(Line.self).map(\.id) == ["l2"])
        #expect(try device.stored(Book.self).isEmpty)
        // It comes back.
        try world.write("INSERT INTO Line (id, text, _stamp) VALUES ('l1', 'again', 1)")
        try await device.sync.checkpoint()
        #expect(try device.stored(Line.self).map(\.text) == ["again", ""])
        try await device.stop()
      }
    }

    @Test("A row inside of many others is followed by devices that have few of them")
    func sharedRows() async throws {
      try await withWorld { world in
        let book = Book(id: 1, title: "A")
        try world.serve { context in
          for id in 1...600 {
            context.insert(Cart(id: id, owner: id == 600 ? 1 : 2, lines: [Line(id: "l\(id)", book: book)]))
          }
          context.insert(Cart(id: 601, owner: 3))
        }
        let (device, other) = (try await world.device("a"), try await world.device("b", user: 3))
        try await device.sync.subscribe("carts").ready()
        try await other.sync.subscribe("carts").ready()
        try world.serve { try $0.update(Book.self, id: 1) { $0.title = "B" } }
        #expect(try await eventually { try device.stored(Book.self).map(\.title) == ["B"] })
        try await other.sync.checkpoint()
        #expect(try other.stored(Book.self).isEmpty)
        try await device.stop()
        try await other.stop()
      }
    }

    @Test("A parameter that does not equal itself, ids that begin with a combining mark, and texts in two forms")
    func oddValues() async throws {
      try await withWorld { world in
        let mark = "\u{301}a"
        try world.serve { context in
          context.insert(Cart(id: 1, owner: 1, weight: 3, lines: [Line(id: mark), Line(id: "\u{200D}\n\u{301}")]))
        }
        let device = try await world.device("a")
        for number in [Double.nan, -0.0, 0.0] {
          try await device.sync.subscribe("heavy", ["least": .number(number)]).ready()
        }
        try await device.sync.checkpoint()
        #expect(try await device.sync.subscriptions().count == 2)
        #expect(try device.stored(Line.self) == world.served(Line.self))
        for subscription in try await device.sync.subscriptions() { try await subscription.cancel() }
        #expect(try device.stored(Line.self).isEmpty && device.stored(Cart.self).isEmpty)
        try await device.stop()
      }
    }

    @Test("An action of a type that is not registered keeps the row that it names")
    func unregisteredActions() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let first = try await world.device("a")
        try await first.sync.subscribe("carts").ready()
        first.network.set { _ in .lost }
        try await first.connect.forward(Append(cart: 1, text: "x"))
        try await first.stop()
        let connect = DeviceConnect(name: "Shop", model: try shopModel())
        try connect.attachPersistentStore(at: world.folder.appending(path: "a"), for: StoreConfiguration(type: .sqlite))
        try await connect.start()
        let sync = connect.sync(with: world.url) { "user-1" }
        for subscription in try await sync.subscriptions() { try await subscription.cancel() }
        let device = Device(connect: connect, sync: sync, network: Network())
        #expect(try device.stored(Cart.self).map(\.id) == [1])
        try await connect.stop()
      }
    }

    @Test("A row that the app has removed and inserted again is its own")
    func ownRows() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let device = try await world.device("a")
        let carts = device.sync.subscribe("carts")
        try await carts.ready()
        let context = device.connect.newBackgroundContext()
        try context.delete(Cart.self, id: 1)
        try context.save()
        try await device.connect.flush()
        try await carts.cancel()
        context.insert(Cart(id: 1, owner: 7))
        try context.save()
        try await device.connect.flush()
        let again = device.sync.subscribe("carts")
        try await again.ready()
        try await again.cancel()
        #expect(try device.stored(Cart.self).map(\.id) == [1])
        try await device.stop()
      }
    }

    @Test("Predicates are found by the values that they compare: numbers, texts in any form, several values, the id")
    func index() throws {
      let model = try shopModel()
      let entity = try #require(model.entity(named: "Line"))
      let feed = LiveFeed(SyncMetrics(NOOPMetricsHandler.instance))
      func ticket(_ number: Int, _ predicate: Predicate<Line>) throws -> LiveTicket {
        let place = WaitingPlace(DeviceName(user: "\(number)", device: "d"))
        return try feed.ticket([RowPredicate(predicate, in: model)], at: place, limit: 10, ofUser: 1)
      }
      let (plain, composed, several) = ("plain", "\u{e9}", ["x", "y"])
      let tickets = [
        try ticket(0, #Predicate<Line> { $0.text == plain }), try ticket(1, #Predicate<Line> { $0.text == composed }),
        try ticket(2, #Predicate<Line> { several.contains($0.text) }),
        try ticket(3, #Predicate<Line> { $0.id == plain }),
        try ticket(4, #Predicate<Line> { $0.text == plain && $0.id == composed }),
      ]
      func concerned(_ id: String, _ text: String) -> [Int] {
        let row = LiveChanges.Row(
          key: EntityKey(entity, .text(id)), values: [.text(id), .text(text), .null])
        let (found, looked) = feed.concerned(by: row)
        // Nobody else was looked at.
        #expect(looked <= found.count + 1)
        return tickets.indices.filter { index in found.contains { $0 === tickets[index] } }
      }
      #expect(concerned("l", "plain") == [0] && concerned("l", "e\u{301}") == [1] && concerned("l", "y") == [2])
      #expect(concerned("plain", "-") == [3] && concerned("\u{e9}", "plain") == [0, 4] && concerned("l", "-").isEmpty)
    }

    @Test("A user who asks too often is told when to ask again, and other users are not held up")
    func rates() async throws {
      var limits = SyncLimits()
      limits.requestsPerSecond = 0.001
      limits.burst = 5
      try await withWorld(limits: limits) { world in
        for _ in 0..<5 { #expect(try await page(world, from: nil)["from"].isNull) }
        #expect(try await page(world, from: nil) == .integer(429))
        let transport = HTTPTransport(baseURL: world.url)
        let answer = try await transport.send(
          TransportRequest("POST", "actions", headers: ["Authorization": "Bearer user-1"], body: Data("{}".utf8)))
        #expect(answer.status == 429 && answer.retryAfter ?? .zero > .zero)
        #expect(try await page(world, 2, from: nil)["user"] == .text("2"))
      }
    }
  }
#endif
