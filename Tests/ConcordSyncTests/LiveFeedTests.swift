#if Server
  import Concord
  import ConcordServer
  import Foundation
  import Metrics
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordServer
  @testable import ConcordSync

  /// Who is woken by which commit.
  @Suite(.timeLimit(.minutes(2)))
  struct LiveFeedTests {
    private let model: Model
    private let store = MemoryStore(name: "server")
    private let feed = LiveFeed(SyncMetrics(NOOPMetricsHandler.instance))
    private let (book, label): (EntityDescription, EntityDescription)

    init() throws {
      model = try shopModel()
      (book, label) = (try #require(model.entity(named: "Book")), try #require(model.entity(named: "Label")))
      try store.startFeed()
      feed.follow(store, model)
    }

    private func stock(_ id: Int64, _ stock: Int64) throws {
      try store.write(origin: nil) { writing in
        let row = StoredRow(values: [.integer(id), .text("A"), .integer(stock)], collections: [], stamp: 1)
        let key = EntityKey(book, .integer(id))
        if let old = try writing.row(of: key) {
          try writing.update(row, replacing: old, for: key)
        } else {
          _ = try writing.insert(row, for: key)
        }
      }
    }

    private func ticket(_ device: String = "d", stock: Int) throws -> LiveTicket {
      let predicate = try RowPredicate(#Predicate<Book> { $0.stock == stock }, in: model)
      let place = WaitingPlace(DeviceName(user: "1", device: device))
      return try feed.ticket([predicate], at: place, limit: 10, ofUser: 10)
    }

    @Test("The first request that waits sleeps through what does not concern it")
    func first() async throws {
      feed.begin(store)
      let ticket = try ticket(stock: 5)
      let looks = feed.looks
      try stock(1, 4)
      #expect(try await eventually { feed.looks > looks })
      try await Task.sleep(for: .milliseconds(20))
      #expect(!ticket.isCalled)
      try stock(2, 5)
      #expect(await ticket.wait(for: .seconds(10)))
    }

    @Test("A request ends an earlier one of the same process, and of a device that names none, and no other")
    func places() throws {
      let predicate = try RowPredicate(#Predicate<Book> { $0.stock == 5 }, in: model)
      func ticket(_ process: String?) throws -> LiveTicket {
        let place = WaitingPlace(DeviceName(user: "1", device: "d"), process: process)
        return try feed.ticket([predicate], at: place, limit: 10, ofUser: 3)
      }
      let tickets = try [nil, "a", "b"].map(ticket)
      #expect(tickets.allSatisfy { !$0.isReplaced })
      // The place of an earlier one is taken, and no further one is needed.
      for (index, process) in [nil, "a", "b"].enumerated() {
        let again = try ticket(process)
        #expect(tickets.enumerated().allSatisfy { $1.isReplaced == ($0 <= index) } && !again.isReplaced)
      }
      #expect(throws: LiveFeed.Full.user) { try ticket("c") }
      withExtendedLifetime(tickets) {}
    }

    @Test("Requests that come together take no more places than there are")
    func together() throws {
      let predicate = try RowPredicate(#Predicate<Book> { $0.stock == 5 }, in: model)
      for _ in 0..<3000 {
        let tickets = Kept<[LiveTicket]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { number in
          let place = WaitingPlace(DeviceName(user: "1", device: "\(number)"))
          guard let ticket = try? feed.ticket([predicate], at: place, limit: 1, ofUser: 1) else { return }
          tickets.withLock { $0.append(ticket) }
        }
        #expect(tickets.withLock { $0.count } == 1)
        try #require(feed.count == 1)
        for ticket in tickets.withLock({ $0 }) { withExtendedLifetime(ticket) {} }
      }
    }

    @Test("A request that waits is not woken by what was committed while nobody did")
    func idle() async throws {
      feed.begin(store)
      withExtendedLifetime(try ticket(stock: 5)) {}
      let looks = feed.looks
      try stock(1, 5)
      #expect(try await eventually { feed.looks > looks })
      feed.begin(store)
      let ticket = try ticket(stock: 5)
      let later = feed.looks
      try stock(2, 4)
      #expect(try await eventually { feed.looks > later })
      try await Task.sleep(for: .milliseconds(50))
      #expect(!ticket.isCalled)
    }

    @Test("Without a position the next commit wakes all, since nobody knows what it has changed")
    func withoutPosition() async throws {
      let ticket = try ticket(stock: 5)
      try stock(1, 4)
      #expect(await ticket.wait(for: .seconds(10)))
    }

    @Test("A position is found once: what was committed since is not jumped over")
    func begunTwice() async throws {
      feed.begin(store)
      let looks = feed.looks
      let first = try ticket("a", stock: 5)
      feed.begin(store)
      #expect(feed.looks == looks)
      try stock(1, 5)
      #expect(await first.wait(for: .seconds(10)))
      // It had a position before the commit, and is told of no other.
      let seen = try #require(first.seen)
      #expect(
        try store.read { try $0.changes(since: seen.position) }?.rows.map(\.key) == [EntityKey(book, .integer(1))])
    }

    @Test("A row wakes those whom it leaves and those whom it comes to, and nobody else")
    func leavingAndComing() async throws {
      try stock(1, 4)
      #expect(try await eventually { feed.looks == 1 })
      feed.begin(store)
      let tickets = try (3...6).map { try ticket("\($0)", stock: $0) }
      try stock(1, 5)
      for index in [1, 2] { #expect(await tickets[index].wait(for: .seconds(10))) }
      for index in [0, 3] { #expect(!tickets[index].isCalled) }
    }

    @Test("A commit of many rows wakes all of their type")
    func manyRows() async throws {
      feed.begin(store)
      let ticket = try ticket(stock: 5)
      try store.write(origin: nil) { writing in
        for id in 0...Int64(LiveFeed.mostChanges) {
          _ = try writing.insert(
            StoredRow(values: [.integer(id), .text("A"), .integer(1)], collections: [], stamp: 1),
            for: EntityKey(book, .integer(id)))
        }
      }
      #expect(await ticket.wait(for: .seconds(60)))
    }

    @Test("A commit of rows of which nobody follows the type wakes nobody, however many they are")
    func otherTypes() async throws {
      feed.begin(store)
      let ticket = try ticket(stock: 5)
      let looks = feed.looks
      try store.write(origin: nil) { writing in
        for id in 0...Int64(LiveFeed.mostChanges) {
          _ = try writing.insert(
            StoredRow(values: [.integer(id), .integer(1), .text("\(id)")], collections: [], stamp: 1),
            for: EntityKey(label, .integer(id)))
        }
      }
      #expect(try await eventually { feed.looks > looks })
      try stock(1, 4)
      try await Task.sleep(for: .milliseconds(50))
      #expect(!ticket.isCalled)
    }

    @Test("A request that is woken by what changes nothing for it waits on, from where others have got to")
    func wokenForNothing() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        func ask(_ position: String?, _ known: String?, wait: Double) async throws -> Page {
          let request = PageRequest(
            device: "d", position: position, user: position == nil ? nil : "1", actions: 0, awaited: [],
            subscriptions: [.init(name: "carts", parameters: [:], known: known)], wait: wait)
          let response = try await world.service.transport(as: User(id: 1)).send(
            TransportRequest("POST", "pages", body: Data(request.wire.bytes)))
          return try Page(parsing: response.body, world.container.model)
        }
        let first = try await ask(nil, nil, wait: 0)
        async let waiting = ask(first.position, first.subscriptions[0].condition, wait: 20)
        #expect(try await eventually { !world.service.live.isIdle })
        // It comes and goes in one look, or in two.
        try world.serve { $0.insert(Cart(id: 2, owner: 1)) }
        try world.serve { $0.insert(Cart(id: 2, owner: 2)) }
        try world.serve { $0.insert(Cart(id: 3, owner: 1, note: "x")) }
        let page = try await waiting
        #expect(page.subscriptions[0].entered.contains(.integer(3)) || page.subscriptions[0].entered == [.integer(2)])
        let last = try await ask(page.position, first.subscriptions[0].condition, wait: 0)
        let entered = Set(page.subscriptions[0].entered + last.subscriptions[0].entered)
        #expect(entered.subtracting(last.subscriptions[0].left) == [.integer(3)])
      }
    }
  }
#endif
