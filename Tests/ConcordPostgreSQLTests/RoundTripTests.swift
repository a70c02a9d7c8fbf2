#if PostgreSQL
  import Concord
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordModel
  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

  /// An entity with a unique value, of which equal ones may look different.
  private struct Coded: PersistentEntity, Equatable {
    let id: Int
    var code: String
    var count: Int

    static let persistentProperties: [PersistentProperty<Coded>] = [
      .init("id", \.id), .init("code", \.code, .unique), .init("count", \.count),
    ]
    init(id: Int, code: String, count: Int) { (self.id, self.code, self.count) = (id, code, count) }
    init(from row: inout RowReader) throws { (id, code, count) = (try row.read(), try row.read(), try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(code)
      try row.write(count)
    }
  }

  @Suite("Round trips to a database", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct RoundTripTests {
    private let fleet: Fleet
    private let model: Model

    init() throws {
      fleet = try Fleet()
      model = try Model("Trips", entities: [Progress.self, Listed.self, Coded.self])
    }

    private func store(
      url: String? = nil, timeout: Double = 30, pollInterval: Double = 1
    ) throws -> PostgreSQLStore {
      var options = PostgreSQLOptions(connection: url ?? fleet.server.url, schema: fleet.schema)
      options.timeout = timeout
      options.pollInterval = pollInterval
      return try PostgreSQLStore(name: "Trips", options, model: model, entities: model.entities)
    }

    private static let policies: [MergePolicy] = [.byStamp, .error, .storeTrump, .objectTrump]

    // MARK: One

    @Test("A lookup, a fetch, a count and the save of a new entity each take one round trip")
    func one() throws {
      let store = try store()
      defer { try? store.close() }
      let context = try store.context(model)
      func save(_ id: Int) throws {
        context.insert(Progress(id: id, last: id))
        try context.save()
      }
      #expect(try store.trips { try save(1) } == 1)
      #expect(try store.trips { try save(1) } == 1)
      var found: Progress?
      #expect(try store.trips { found = try context.find(Progress.self, id: 1) } == 1)
      #expect(found == Progress(id: 1, last: 1))
      let sorted = FetchDescriptor<Progress>(sortBy: [SortDescriptor(\.last)], fetchLimit: 5)
      var count = 0
      #expect(try store.trips { count = try context.fetch(sorted).count } == 1)
      #expect(count == 1)
      #expect(try store.trips { count += try context.count(FetchDescriptor<Progress>()) } == 1)
      #expect(count == 2)
      let update = try store.trips {
        _ = try context.update(Progress.self, id: 1) { $0.last = 5 }
        try context.save()
      }
      #expect(update <= 3)
      #expect(try context.find(Progress.self, id: 1)?.last == 5)
    }

    @Test("A reading that reads more than it has announced is run again, and sees one state")
    func more() throws {
      let (store, other) = (try fleet.store(), try fleet.store())
      defer { for store in [store, other] { try? store.close() } }
      func write(_ last: Int) throws {
        try other.write(origin: nil) { writing in
          for id in 0..<2 {
            _ = try writing.insertOrReplaceOlder(fleet.row(id, last, stamp: Double(last)), for: fleet.key(id))
          }
        }
      }
      try write(1)
      var runs = 0
      let found = try store.read { reading in
        runs += 1
        reading.willReadOnce()
        let first = try reading.row(of: fleet.key(0))
        try write(runs + 1)
        return [first, try reading.row(of: fleet.key(1))].map { $0?.values[1] }
      }
      #expect(runs == 2)
      #expect(found == [.integer(2), .integer(2)])
      // Whatever the closure makes of the error.
      let last = try store.read { reading in
        reading.willReadOnce()
        _ = try reading.row(of: fleet.key(0))
        return (try? reading.row(of: fleet.key(1)))??.values[1]
      }
      #expect(last == .integer(3))
    }

    @Test("A reading whose connection is lost is done again with another one, unless it has read something and may not")
    func lostReading() throws {
      let proxy = try CuttingProxy(to: fleet.server.port)
      defer { proxy.stop() }
      let store = try store(url: fleet.server.url(port: proxy.port), timeout: 3)
      defer { try? store.close() }
      try store.write(origin: nil) { writing in
        for id in 0..<2 { _ = try writing.insertOrReplaceOlder(fleet.row(id, id), for: fleet.key(id)) }
      }
      func read(mayReadAgain: Bool, losingBefore lost: Int) throws -> (runs: Int, found: [StoredValue?]) {
        var runs = 0
        let found = try store.read { reading in
          runs += 1
          if mayReadAgain { reading.mayReadAgain() }
          return try (0..<2).map { id in
            // Only this connection: the next one is served.
            if id == lost, runs == 1 { proxy.cut(after: 0, ofAnswers: false) }
            defer { proxy.cutNoMore() }
            return try reading.row(of: fleet.key(id))?.values[1]
          }
        }
        return (runs, found)
      }
      for mayReadAgain in [false, true] {
        for lost in 0..<2 where mayReadAgain || lost == 0 {
          let (runs, found) = try read(mayReadAgain: mayReadAgain, losingBefore: lost)
          #expect(runs == 2)
          #expect(found == [.integer(0), .integer(1)])
        }
      }
      #expect(throws: StoreError.self) { try read(mayReadAgain: false, losingBefore: 1) }
      // It ends, too, if there is no other one.
      #expect(try read(mayReadAgain: false, losingBefore: 2).runs == 1)
      proxy.refuse()
      #expect(throws: StoreError.self) { try read(mayReadAgain: true, losingBefore: 0) }
      try proxy.goOn()
      #expect(try read(mayReadAgain: false, losingBefore: 2).runs == 1)
    }

    @Test("An insertion that is older than what is stored changes nothing, and its writing is told so")
    func older() throws {
      let store = try fleet.store()
      defer { try? store.close() }
      _ = try store.write(origin: nil) { try $0.insertNewest([(fleet.key(0), fleet.row(0, 5, stamp: 5))]) }
      for stamp in [4.0, 5, 6] {
        var answers: [[Bool]] = []
        try store.write(origin: nil) { writing in
          writing.willWriteOnce()
          answers.append(try writing.insertNewest([(fleet.key(0), fleet.row(0, Int(stamp) * 10, stamp: stamp))]))
        }
        #expect(answers == (stamp > 5 ? [[true]] : [[true], [false]]))
        #expect(try store.read { try $0.row(of: fleet.key(0)) }?.values[1] == .integer(stamp > 5 ? 60 : 5))
      }
      // More than was announced: the row is there all the same.
      var attempts = 0
      try store.write(origin: nil) { writing in
        attempts += 1
        writing.willWriteOnce()
        _ = try writing.insertNewest([(fleet.key(1), fleet.row(1, 1))])
        #expect(try writing.row(of: fleet.key(1))?.values[1] == .integer(1))
      }
      #expect(attempts == 1)
      try store.write(origin: nil) { writing in
        attempts += 1
        writing.willWriteOnce()
        let isWritten = try writing.insertNewest([(fleet.key(0), fleet.row(0, 1))])[0]
        #expect(try writing.row(of: fleet.key(0))?.values[1] == .integer(60))
        #expect(!isWritten)
      }
      #expect(attempts == 3)
    }

    @Test(
      "The connection is cut at each byte of the round trip that saves one entity: it is there once if it is said to be, and not if not"
    )
    func oneInDoubt() throws {
      let proxy = try CuttingProxy(to: fleet.server.port)
      let direct = try store()
      defer {
        try? direct.close()
        proxy.stop()
      }
      let reader = try direct.context(model)
      var id = 0
      var total = (requests: 0, answers: 0)
      for cutsAnswers: Bool? in [nil, false, true] {
        // Another part of the places each time, unless all are asked for.
        let step = TestOptions.isLong ? 1 : 12
        // The first save counts them, with those of the connection's end.
        let last = cutsAnswers.map { 8 + ($0 ? total.answers : total.requests) } ?? 0
        for byte in stride(from: last == 0 ? 0 : Int.random(in: 0..<step), through: last, by: step) {
          let store = try store(url: fleet.server.url(port: proxy.port), timeout: 10)
          // Stamps of its own, so that a save which is done twice is refused.
          let context = try store.context(model, .byStamp)
          id += 1
          context.insert(Progress(id: 0, last: id))
          try context.save()
          context.insert(Progress(id: id, last: byte))
          if let cutsAnswers { proxy.cut(after: byte, ofAnswers: cutsAnswers) } else { proxy.count() }
          let comment: Comment = "byte \(byte) of \(cutsAnswers == true ? "answers" : "requests")"
          var isSaved = false
          do {
            try context.save()
            isSaved = true
          } catch { Issue.record("\(comment): \(error)") }
          if cutsAnswers == nil { total = proxy.counted }
          proxy.cutNoMore()
          #expect(try (reader.find(Progress.self, id: id) != nil) == isSaved, comment)
          try store.close()
        }
      }
    }

    // MARK: Many

    @Test("A save takes as many round trips for 1,000 entities as for 10, under each policy", arguments: policies)
    func many(_ policy: MergePolicy) throws {
      let store = try store()
      defer { try? store.close() }
      let context = try store.context(model, policy)
      // What the store trumps is compared, too.
      let other = try store.context(model)
      func saves(_ first: Int, _ count: Int) throws -> [Int] {
        let ids = first..<first + count
        func insert(_ context: BackgroundContext, _ last: Int) {
          for id in ids {
            context.insert(Progress(id: id, last: last))
            context.insert(Listed(id: id, lines: ["\(last)", "line \(id)"]))
            context.insert(Coded(id: id, code: "é\(id)", count: last))
          }
        }
        let new = try store.trips {
          insert(context, 1)
          try context.save()
        }
        insert(context, policy == .error ? 1 : 2)
        let again = try store.trips { try? context.save() }
        context.rollback()
        for id in ids {
          #expect(try context.update(Progress.self, id: id) { $0.last = 3 })
          #expect(try context.update(Listed.self, id: id) { $0.lines.append("more") })
          #expect(try context.update(Coded.self, id: id) { $0.count += 10 })
        }
        let changed = try store.trips { try context.save() }
        let descriptor = FetchDescriptor<Listed>(sortBy: [SortDescriptor(\.id)])
        let found = try other.fetch(descriptor).filter { ids.contains($0.id) }
        let isKept = policy == .error || policy == .storeTrump
        #expect(found == ids.map { Listed(id: $0, lines: [isKept ? "1" : "2", "line \($0)", "more"]) })
        let codes = try other.fetch(FetchDescriptor<Coded>(sortBy: [SortDescriptor(\.id)])).filter {
          ids.contains($0.id)
        }
        #expect(codes == ids.map { Coded(id: $0, code: "é\($0)", count: isKept ? 11 : 12) })
        return [new, again, changed]
      }
      let (few, many) = (try saves(0, 10), try saves(10, 1000))
      #expect(many == few)
      #expect(many.allSatisfy { $0 <= 16 }, "\(many)")
    }

    @Test("Unique values are compared where many rows are inserted: with rows that are stored, and with each other")
    func unique() throws {
      let store = try store()
      defer { try? store.close() }
      let entity = try model.entity(Coded.self)
      func row(_ id: Int, _ code: String) throws -> KeyedRow {
        let row = try entity.row(of: Coded(id: id, code: code, count: 0), stamp: 1)
        return (EntityKey(entity, .integer(Int64(id))), row)
      }
      func insert(_ codes: KeyValuePairs<Int, String>) throws -> [Bool] {
        let rows = try codes.map { try row($0, $1) }
        return try store.write(origin: nil) { try $0.insertMissing(rows) }
      }
      // Rows whose form is the usual one come first, then the others.
      #expect(
        try insert([0: "a", 1: "e\u{301}", 2: "b", 3: "\u{e9}", 4: "b", 5: "c"])
          == [true, false, true, true, false, true])
      #expect(
        try insert([6: "a", 7: "n\u{303}", 8: "d", 0: "z", 9: "e\u{301}"]) == [false, true, true, false, false])
      #expect(try insert([10: "\u{f1}", 11: "e"]) == [false, true])
      let stored = try store.read { reading in
        try (0..<12).filter { try reading.row(of: EntityKey(entity, .integer(Int64($0)))) != nil }
      }
      #expect(stored == [0, 2, 3, 5, 7, 8, 11])
    }

    @Test("What an index that an administrator made keeps out is refused, and not lost without a word")
    func foreignIndex() throws {
      let store = try store()
      defer { try? store.close() }
      try fleet.sql("CREATE UNIQUE INDEX theirs ON \"Coded\" (count)")
      for count in [1, 10] {
        let context = try store.context(model)
        for id in 0..<count { context.insert(Coded(id: 100 * count + id, code: "c\(count).\(id)", count: count)) }
        if count == 1 {
          try context.save()
        } else {
          #expect(throws: StoreError.self) { try context.save() }
        }
      }
      #expect(try store.context(model).fetch(FetchDescriptor<Coded>()).map(\.id) == [100])
    }

    @Test(
      "Two that insert the same 2,000 entities at once meet once, whatever their order and the policy",
      arguments: policies)
    func same(_ policy: MergePolicy) throws {
      let stores = try (0..<2).map { _ in try store() }
      defer { for store in stores { try? store.close() } }
      let seed = UInt64.random(in: 0 ... .max)
      let contexts = try stores.map { try $0.context(model, policy) }
      for (number, context) in contexts.enumerated() {
        var random = SeededNumbers(seed: seed &+ UInt64(number))
        for id in (0..<2_000).shuffled(using: &random) {
          context.insert(Progress(id: id, last: id))
          context.insert(Listed(id: id, lines: ["line"]))
        }
      }
      let saved = Locked(0)
      DispatchQueue.concurrentPerform(iterations: 2) { number in
        if (try? contexts[number].save()) != nil { saved.withLock { $0 += 1 } }
      }
      // Two insertions of one entity are a conflict.
      #expect(saved.withLock { $0 } == (policy == .error ? 1 : 2), "seed \(seed)")
      #expect(try contexts[0].count(FetchDescriptor<Progress>()) == 2_000)
      #expect(try contexts[0].count(FetchDescriptor<Listed>()) == 2_000)
      let repeated = stores.map { $0.repeatedWrites.withLock { $0 } }
      #expect(repeated.reduce(0, +) <= 2, "\(repeated), seed \(seed)")
    }

    @Test(
      "A view reads what another store has committed in one round trip at most, however many rows it shows of it")
    func shown() throws {
      // Only what is notified is told with its state: a poll that comes just before the notification leaves it to the view.
      let (store, other) = (try store(pollInterval: 600), try store(pollInterval: 600))
      defer { for store in [store, other] { try? store.close() } }
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.attach(store, configuration: "")
      let view = ViewContext(parent: coordinator, delivery: .immediate) { Issue.record("\($0)") }
      let list = try view.query(FetchDescriptor<Progress>(sortBy: [SortDescriptor(\.id)]))
      let context = try other.context(model)
      var ids = 0..<0
      for count in [1, 10, 100] {
        let trips = try store.trips {
          ids = 0..<ids.count + count
          for id in ids { context.insert(Progress(id: id, last: count)) }
          try context.save()
          let expected = ids.map { Progress(id: $0, last: count) }
          #expect(eventually { list.value == expected })
        }
        // The first reading finds out that there is somebody who shows; the others are of the state that was told.
        #expect(trips == (count == 1 ? 1 : 0), "\(count)")
      }
    }

    @Test("What is new is asked once for each notification, together with the rows that a view shows of it")
    func notified() throws {
      let server = try LoggingServer()
      defer { try? server.server.stop() }
      let store = try server.fleet.store(pollInterval: 600)
      defer { try? store.close() }
      let coordinator = PersistentStoreCoordinator(model: server.fleet.model)
      try coordinator.attach(store, configuration: "")
      let view = ViewContext(parent: coordinator, delivery: .immediate) { Issue.record("\($0)") }
      let list = try view.query(FetchDescriptor<Progress>(sortBy: [SortDescriptor(\.id)]))
      var shown = 0
      func statements(_ sql: String) throws -> [Substring] {
        let before = try server.statements().count
        try server.fleet.sql(sql)
        shown += sql.hasPrefix("INSERT") ? 1 : 0
        #expect(eventually { list.value.count == shown })
        // What comes behind it by mistake.
        Thread.sleep(forTimeInterval: 0.1)
        return try server.statements().dropFirst(before).map { $0 }
      }
      // The first time, nobody is known to show anything; the second time, not which rows.
      for id in 0..<2 { _ = try statements("INSERT INTO \"Progress\" VALUES (\(id), 1, 1)") }
      for id in 2..<6 {
        let sent = try statements("INSERT INTO \"Progress\" VALUES (\(id), 1, 1)")
        #expect(sent.count == 4, "\(sent)")
        #expect(sent.count { $0.contains("pg_current_snapshot()::text") } == 1, "\(sent)")
        #expect(sent.count { $0.contains("unnest(keys)") } == 1, "\(sent)")
      }
      // Rows that go, and those of commits with more of them than are read ahead.
      shown -= 1
      #expect(try statements("DELETE FROM \"Progress\" WHERE id = 3").count == 4)
      #expect(list.value.map(\.id) == [0, 1, 2, 4, 5])
      shown += 198
      let many = try statements("INSERT INTO \"Progress\" SELECT 10 + n, 1, 1 FROM generate_series(1, 199) AS n")
      #expect(many.count { $0.contains("= ANY($1)") } == 1, "\(many)")
      #expect(list.value.map(\.id) == [0, 1, 2, 4, 5] + Array(11..<210))
      withExtendedLifetime((coordinator, view, list)) {}
    }

    @Test("What a query has left out is asked for again in a bounded number of round trips, however much it is")
    func leftOut() throws {
      let store = try store(pollInterval: 600)
      defer { try? store.close() }
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.attach(store, configuration: "")
      let context = BackgroundContext(parent: coordinator)
      for id in 1...1_040 { context.insert(Progress(id: id, last: 1)) }
      try context.save()
      let view = ViewContext(parent: coordinator, delivery: .immediate) { _ in }
      let list = try view.query(
        FetchDescriptor<Progress>(
          predicate: #Predicate { 10 / $0.last > 0 }, sortBy: [SortDescriptor(\.id)], fetchLimit: 5))
      // For these the predicate has no answer.
      for id in 1...1_000 { try context.update(Progress.self, id: id) { $0.last = 0 } }
      try context.save()
      #expect(eventually { list.value.map(\.id) == Array(1_001...1_005) })
      // The spare entities run out, so that it is fetched again.
      for id in 1_001...1_035 { try context.delete(Progress.self, id: id) }
      let trips = try store.trips {
        try context.save()
        #expect(eventually { list.value.map(\.id) == Array(1_036...1_040) })
      }
      #expect(trips < 20, "\(trips)")
      withExtendedLifetime(view) {}
    }
  }
#endif
