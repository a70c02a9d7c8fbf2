#if Server
  import Concord
  import ConcordServer
  import Foundation
  import Metrics
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordServer

  #if PostgreSQL
    @testable import ConcordPostgreSQL
  #endif

  /// What one commit, and what the store forgets, may cost those who wait.
  @Suite(.timeLimit(.minutes(2)))
  struct LargeCommitTests {
    @Test("A commit of many rows that many others contain is looked at for a limited number of them")
    func containers() throws {
      let model = try shopModel()
      let store = MemoryStore(name: "server")
      let (line, book) = (try #require(model.entity(named: "Line")), try #require(model.entity(named: "Book")))
      let changes = (1...200).map { RowChange(key: EntityKey(book, .integer($0)), before: nil) }
      try store.write(origin: nil) { writing in
        for change in changes {
          _ = try writing.insert(
            StoredRow(values: [change.key.id, .text("A"), .integer(1)], collections: [], stamp: 1), for: change.key)
          for number in 1...50 {
            let id = StoredValue.text("\(change.key.id) \(number)")
            _ = try writing.insert(
              StoredRow(values: [id, .text("x"), change.key.id], collections: [], stamp: 1), for: EntityKey(line, id))
          }
        }
      }
      try store.write(origin: nil) { session in
        let reading = CountingRows(session)
        let few = try LiveChanges(Array(changes.prefix(10)), [line], reading, model)
        #expect(few.rows.count == 500 && few.wholeTypes.isEmpty)
        let before = reading.rowsRead
        let many = try LiveChanges(changes, [line], reading, model)
        #expect(many.wholeTypes == [line])
        #expect(reading.rowsRead - before <= 5000 + changes.count)
        // A page finds the same from above.
        let text = "x"
        func served(_ predicate: Predicate<Line>) throws -> Served {
          Served(
            predicate: try RowPredicate(predicate, in: model), publication: "lines",
            unanswered: UnansweredRows())
        }
        let predicate = try served(#Predicate { $0.text == text })
        var containers = RowContainers(reading: reading, model: model)
        let read = reading.rowsRead
        for change in changes { _ = try containers.holds(predicate, above: change.key) }
        #expect(reading.rowsRead - read <= 5000 + 10_000)
        let none = "y"
        let other = try served(#Predicate { $0.text == none })
        var outside = RowContainers(reading: reading, model: model)
        let again = reading.rowsRead
        for change in changes { #expect(try !outside.holds(other, above: change.key)) }
        #expect(reading.rowsRead - again <= 5000 + changes.count)
      }
    }

    /// A store that forgets slowly.
    private final class SlowStore: RowStore {
      private let store = MemoryStore(name: "server")
      let isTrimming = Kept(false)

      var name: String { store.name }
      func trimFeed() throws -> Bool {
        isTrimming.withLock { $0 = true }
        Thread.sleep(forTimeInterval: 4)
        return false
      }
      func read<R>(_ body: (any RowReading) throws -> R) throws -> R { try store.read(body) }
      func write<R>(origin: ObjectIdentifier?, _ body: (any RowWriting) throws -> R) throws -> R {
        try store.write(origin: origin, body)
      }
      func observeCommits(_ body: @escaping @Sendable (StoreCommit) -> Void) -> StoreObservation {
        store.observeCommits(body)
      }
      var unknownCommits: Int { store.unknownCommits }
      func settle() { store.settle() }
      func startFeed(_ limits: FeedLimits) throws { try store.startFeed(limits) }
      func close() throws { try store.close() }
    }

    @Test("What a store forgets delays nobody who waits")
    func trimming() async throws {
      let model = try shopModel()
      let store = SlowStore()
      try store.startFeed()
      let feed = LiveFeed(SyncMetrics(NOOPMetricsHandler.instance))
      feed.follow(store, model)
      let book = try #require(model.entity(named: "Book"))
      let predicate = try RowPredicate(#Predicate<Book> { $0.stock > 0 }, in: model)
      func commit(_ id: Int64) throws {
        try store.write(origin: nil) { writing in
          _ = try writing.insert(
            StoredRow(values: [.integer(id), .text("A"), .integer(1)], collections: [], stamp: 1),
            for: EntityKey(book, .integer(id)))
        }
      }
      // It is due once in a second.
      try await Task.sleep(for: .milliseconds(1100))
      for id in 1...2 {
        let place = WaitingPlace(DeviceName(user: "1", device: "d"))
        let ticket = try feed.ticket([predicate], at: place, limit: 10, ofUser: 1)
        try commit(Int64(id))
        #expect(await ticket.wait(for: .seconds(2)))
      }
      #expect(try await eventually { store.isTrimming.withLock { $0 } })
    }

    @Test("Limits without bound are limits")
    func noLimits() async throws {
      var limits = SyncLimits()
      limits.actions = .max
      limits.feed = FeedLimits(changes: .max, rows: .max)
      try await withWorld(.memory, limits: limits) { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let device = try await world.device("a")
        try await device.sync.subscribe("carts").ready()
        try await device.connect.forward(Append(cart: 1, text: "x"))
        try await device.sync.checkpoint()
        #expect(try device.stored(Cart.self).map(\.note) == ["x"])
        try await device.stop()
      }
    }

    #if PostgreSQL
      @Test("A feed that begins anew after many changes has nothing to forget", .enabled(if: Kind.database != nil))
      func begunAnew() throws {
        let model = try shopModel()
        let options = PostgreSQLOptions(connection: Kind.database ?? "", schema: Kind.newSchema())
        let limits = FeedLimits(changes: 10, rows: 1000)
        let first = try PostgreSQLStore(name: "Shop", options, model: model, entities: model.entities)
        try first.startFeed(limits)
        let other = try first.pool.connect()
        try other.run([.once("INSERT INTO \"Book\" SELECT n, 'a', 1, 1 FROM generate_series(1, 3000) AS n")])
        // As when a migration has taken a trigger.
        try other.run([.once("DELETE FROM concord_feed_columns")])
        let second = try PostgreSQLStore(name: "Shop", options, model: model, entities: model.entities)
        try second.startFeed(limits)
        try other.run([.once("UPDATE \"Book\" SET title = 'b' WHERE id = 1")])
        #expect(try !second.trimFeed())
        for store in [first, second] { try store.close() }
      }
    #endif
  }
#endif
