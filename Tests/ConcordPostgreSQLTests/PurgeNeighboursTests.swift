#if PostgreSQL
  import Concord
  import ConcordModel
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

  private struct Item: PersistentEntity, Equatable {
    let id: Int

    static let persistentProperties: [PersistentProperty<Item>] = [.init("id", \.id)]
    init(id: Int) { self.id = id }
    init(from row: inout RowReader) throws { id = try row.read() }
    func write(to row: inout RowWriter) throws { try row.write(id) }
  }

  private struct Basket: PersistentEntity, Aggregate, Equatable {
    let id: Int
    var items: [Item]

    static let persistentProperties: [PersistentProperty<Basket>] = [.init("id", \.id), .init("items", \.items)]
    init(id: Int, items: [Item]) { (self.id, self.items) = (id, items) }
    init(from row: inout RowReader) throws { (id, items) = (try row.read(), try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(items)
    }
  }

  private struct Crate: PersistentEntity, Aggregate, Equatable {
    let id: Int
    var item: Item

    static let persistentProperties: [PersistentProperty<Crate>] = [.init("id", \.id), .init("item", \.item)]
    init(id: Int, item: Item) { (self.id, self.item) = (id, item) }
    init(from row: inout RowReader) throws { (id, item) = (try row.read(), try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(item)
    }
  }

  /// Lets two threads that purge wait for each other: before their transactions, when each has looked at what the other one's container forwards, and
  /// within them.
  private final class Meeting: RetentionGuard {
    private enum Round { case before, within }
    private let threads = Locked<[Round: Set<UInt>]>([:])
    private let condition = NSCondition()

    func forwardedKeys(_ outboxes: [StoreAttachment: any RowReading]) throws -> Set<EntityKey>? {
      meet(.before)
      return nil
    }

    func isObserved(_ key: EntityKey) -> Bool {
      meet(.within)
      return false
    }

    private func meet(_ round: Round) {
      let isNew = threads.withLock { $0[round, default: []].insert(UInt(pthread_self())).inserted }
      guard isNew else { return }
      condition.lock()
      condition.broadcast()
      while threads.withLock({ $0[round]?.count ?? 0 }) < 2, condition.wait(until: Date(timeIntervalSinceNow: 20)) {}
      condition.unlock()
    }
  }

  /// Calls a closure once, when a purge has removed the rows, and is about to commit.
  private final class Hook: RetentionGuard {
    private let asked = Locked((keys: Set<EntityKey>(), isDone: false))
    private let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    func isObserved(_ key: EntityKey) -> Bool {
      let isNow = asked.withLock { asked in
        if asked.isDone || asked.keys.insert(key).inserted { return false }
        asked.isDone = true
        return true
      }
      if isNow { body() }
      return false
    }
  }

  @Suite(
    "Purges beside other containers with the same database", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct PurgeNeighboursTests {
    /// Where the entities are stored that contain the items of a schema.
    enum Home: CaseIterable { case memory, sameSchema, otherSchema }

    private func store(
      _ fleet: Fleet, _ model: Model, _ entities: [EntityDescription], _ configuration: String = "",
      suffix: String = "", url: String? = nil
    ) throws -> PostgreSQLStore {
      var options = PostgreSQLOptions(connection: url ?? fleet.server.url, schema: fleet.schema + suffix)
      options.poolSize = 1
      return try PostgreSQLStore(
        name: "Shop\(suffix)", options, model: model, entities: entities, configuration: configuration)
    }

    /// A coordinator with the items of a schema, and what contains them.
    private func coordinator(
      _ fleet: Fleet, _ owner: any PersistentEntity.Type, _ home: Home, url: String? = nil
    ) throws -> PersistentStoreCoordinator {
      if home == .sameSchema {
        let model = try Model("Shop", entities: [Item.self, owner])
        let coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.attach(try store(fleet, model, model.entities, url: url), configuration: "")
        return coordinator
      }
      let model = try Model("Shop", entities: [], configurations: ["Items": [Item.self], "Owners": [owner]])
      let coordinator = PersistentStoreCoordinator(model: model)
      let items = try store(fleet, model, [try model.entity(Item.self)], "Items", url: url)
      try coordinator.attach(items, configuration: "Items")
      let owners: any RowStore =
        home == .memory
        ? MemoryStore(name: "Owners")
        : try store(fleet, model, [model.entity(named: "\(owner)")].compactMap { $0 }, "Owners", suffix: "-\(owner)")
      try coordinator.attach(owners, configuration: "Owners")
      return coordinator
    }

    private func close(_ coordinators: [PersistentStoreCoordinator]) {
      for store in coordinators.flatMap(\.persistentStores) { try? store.rows.close() }
    }

    private func stored(_ coordinator: PersistentStoreCoordinator) throws -> [Int] {
      try BackgroundContext(parent: coordinator).fetch(FetchDescriptor<Item>()).map(\.id).sorted()
    }

    @Test(
      "Two that purge at once, each of which looks into what only the other has, do not wait for each other",
      arguments: Home.allCases)
    func atOnce(_ home: Home) throws {
      let fleet = try Fleet()
      let coordinators = [try coordinator(fleet, Basket.self, home), try coordinator(fleet, Crate.self, home)]
      let contexts = coordinators.map { BackgroundContext(parent: $0) }
      for id in 1...4 { contexts[0].insert(Item(id: id)) }
      contexts[0].insert(Basket(id: 1, items: [Item(id: 2)]))
      try contexts[0].save()
      contexts[1].insert(Crate(id: 1, item: try #require(try contexts[1].find(Item.self, id: 1))))
      try contexts[1].save()
      let meeting = Meeting()
      for coordinator in coordinators { coordinator.addGuard(meeting) }
      let results = Locked<[Result<Int, any Error>]>([])
      let group = DispatchGroup()
      for coordinator in coordinators {
        group.enter()
        Thread.detachNewThread {
          let result = Result {
            try BackgroundContext(parent: coordinator).purge(Item.self, keeping: .atMost(0))
          }
          results.withLock { $0.append(result) }
          group.leave()
        }
      }
      try #require(group.wait(timeout: .now() + 60) == .success)
      #expect(try results.withLock { try $0.map { try $0.get() }.reduce(0, +) } == 2)
      #expect(try stored(coordinators[0]) == [1, 2])
      withExtendedLifetime(meeting) {}
      close(coordinators)
    }

    @Test("What an entity that only another one's model has contains while a purge runs stays")
    func meanwhile() throws {
      let fleet = try Fleet()
      // The table is there before, so that the purge may look into it.
      let other = try coordinator(fleet, Crate.self, .sameSchema)
      let model = try Model("Shop", entities: [Item.self])
      let purging = PersistentStoreCoordinator(model: model)
      try purging.attach(try store(fleet, model, model.entities), configuration: "")
      defer { close([other, purging]) }
      let context = BackgroundContext(parent: purging)
      for id in 1...3 { context.insert(Item(id: id)) }
      try context.save()
      let problem = Locked<String?>("not called")
      let hook = Hook {
        let isDone = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
          do {
            let saving = BackgroundContext(parent: other)
            let item = try #require(try saving.find(Item.self, id: 2))
            saving.insert(Crate(id: 1, item: item))
            try saving.save()
            problem.withLock { $0 = nil }
          } catch { problem.withLock { $0 = "\(error)" } }
          isDone.signal()
        }
        _ = isDone.wait(timeout: .now() + 60)
      }
      purging.addGuard(hook)
      #expect(try context.purge(Item.self, keeping: .atMost(0)) == 2)
      #expect(problem.withLock { $0 } == nil)
      #expect(try stored(purging) == [2])
      #expect(try BackgroundContext(parent: other).find(Crate.self, id: 1)?.item == Item(id: 2))
      withExtendedLifetime(hook) {}
    }

    @Test(
      "What only another one's model contains stays, also where that one asks for other settings",
      arguments: [false, true])
    func contained(_ hasOtherSettings: Bool) throws {
      let fleet = try Fleet()
      let settings = "options=-c%20shop.tenant%3Done"
      let url = fleet.server.url + (fleet.server.url.contains("?") ? "&" : "?") + settings
      let other = try coordinator(fleet, Crate.self, .sameSchema, url: hasOtherSettings ? url : nil)
      let purging = try coordinator(fleet, Basket.self, .sameSchema)
      defer { close([other, purging]) }
      let context = BackgroundContext(parent: other)
      for id in 1...3 { context.insert(Item(id: id)) }
      context.insert(Crate(id: 1, item: Item(id: 2)))
      try context.save()
      let rows = try #require(other.persistentStores.first?.rows as? PostgreSQLStore)
      let own = try #require(purging.persistentStores.first?.rows as? PostgreSQLStore)
      let (item, crate) = (try other.model.entity(Item.self), try other.model.entity(Crate.self))
      let within = try own.write(origin: nil) { session in
        try rows.referrers(to: EntityKey(item, .integer(2)), in: crate, within: session, of: own)
      }
      #expect(within == (hasOtherSettings ? nil : [.integer(1)]))
      #expect(try BackgroundContext(parent: purging).purge(Item.self, keeping: .atMost(0)) == 2)
      #expect(try stored(purging) == [2])
    }

    @Test("Stores of two schemas are two, and of one are one, also where the number of the outbox is missing")
    func places() throws {
      let fleets = try (0..<2).map { _ in try Fleet() }
      for fleet in fleets {
        try fleet.store().close()
        try fleet.sql("DELETE FROM concord_outbox_state")
      }
      let stores = try (fleets + fleets).map { try $0.store() }
      defer { for store in stores { try? store.close() } }
      #expect(stores[0].place != stores[1].place)
      #expect(stores[0].place == stores[2].place && stores[1].place == stores[3].place)
    }

    @Test("Stores of a schema are one, also where a copy has replaced it in between")
    func placeOfCopy() throws {
      let fleet = try Fleet()
      let first = try fleet.store()
      try fleet.sql(
        """
        CREATE TABLE copy (LIKE concord_outbox_state INCLUDING ALL); INSERT INTO copy SELECT * FROM concord_outbox_state;
        DROP TABLE concord_outbox_state; ALTER TABLE copy RENAME TO concord_outbox_state;
        ALTER TABLE concord_outbox_state OWNER TO \(PostgreSQLServer.role)
        """)
      let second = try fleet.store()
      defer { for store in [first, second] { try? store.close() } }
      #expect(first.place == second.place)
    }
  }
#endif
