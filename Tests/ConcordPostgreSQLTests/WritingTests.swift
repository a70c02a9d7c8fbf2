#if PostgreSQL
  import Concord
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

  @Suite("Writing to a PostgreSQL store", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct WritingTests {
    private static let seed = TestOptions.seed(.random(in: 0..<1_000_000))

    private func number(_ store: PostgreSQLStore, _ fleet: Fleet, _ id: Int = 0) throws -> Int? {
      try store.read { try $0.row(of: fleet.key(id)) }.flatMap {
        if case .integer(let value) = $0.values[1] { Int(value) } else { nil }
      }
    }

    private func add(_ store: PostgreSQLStore, _ fleet: Fleet, id: Int = 0) throws {
      try store.write(origin: nil) { writing in
        guard let old = try writing.row(of: fleet.key(id)), case .integer(let last) = old.values[1] else { return }
        try writing.update(
          fleet.row(id, Int(last) + 1, stamp: Double(last) + 2), replacing: old, for: fleet.key(id))
      }
    }

    @Test("Writers of one row count up, whatever meets whatever: each write counts once")
    func conflicts() throws {
      let fleet = try Fleet()
      let stores = try (0..<3).map { _ in try fleet.store() }
      defer { for store in stores { try? store.close() } }
      try stores[0].write(origin: nil) { _ = try $0.insert(fleet.row(0, 0), for: fleet.key(0)) }
      let done = Locked(0)
      DispatchQueue.concurrentPerform(iterations: 6) { number in
        for _ in 0..<20 where (try? add(stores[number % 3], fleet)) != nil { done.withLock { $0 += 1 } }
      }
      #expect(done.withLock { $0 } == 120)
      #expect(try number(stores[0], fleet) == 120)
    }

    @Test("Writers of different rows do not wait for each other")
    func different() throws {
      let fleet = try Fleet()
      let store = try fleet.store()
      defer { try? store.close() }
      try store.write(origin: nil) { writing in
        for id in 0..<2 { _ = try writing.insert(fleet.row(id, 0), for: fleet.key(id)) }
      }
      let begun = DispatchSemaphore(value: 0)
      let goOn = DispatchSemaphore(value: 0)
      let ended = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        try? store.write(origin: nil) { writing in
          try writing.update(fleet.row(0, 5, stamp: 5), replacing: fleet.row(0, 0), for: fleet.key(0))
          // The row is locked now.
          try (writing as? PostgreSQLSession)?.flush()
          begun.signal()
          _ = goOn.wait(timeout: .now() + 20)
        }
        ended.signal()
      }
      #expect(begun.wait(timeout: .now() + 10) == .success)
      try add(store, fleet, id: 1)
      #expect(try number(store, fleet, 1) == 1 && number(store, fleet, 0) == 0)
      goOn.signal()
      #expect(ended.wait(timeout: .now() + 10) == .success)
      #expect(try number(store, fleet, 0) == 5)
    }

    @Test("Twenty stores that attach at once make the tables once")
    func attaching() throws {
      let fleet = try Fleet()
      let failures = Locked<[String]>([])
      DispatchQueue.concurrentPerform(iterations: 20) { _ in
        do { try fleet.store().close() } catch { failures.withLock { $0.append("\(error)") } }
      }
      #expect(failures.withLock { $0 } == [])
    }

    @Test(
      "The connection is cut at each byte of the exchange of the commit: a save is there once if it is said to be, and not if not"
    )
    func commitInDoubt() throws {
      let fleet = try Fleet()
      let direct = try fleet.store()
      let proxy = try CuttingProxy(to: fleet.server.port)
      defer {
        try? direct.close()
        proxy.stop()
      }
      try direct.write(origin: nil) { _ = try $0.insert(fleet.row(0, 0), for: fleet.key(0)) }
      var expected = 0
      var (rows, inserted) = (0, [Int]())
      /// Writes once, and once more, and says then when all is written but the commit.
      func writeTwice(inserts: Bool, _ comment: Comment, _ isWritten: () -> Void) throws {
        let store = try fleet.store(url: fleet.server.url(port: proxy.port), timeout: 10)
        defer { try? store.close() }
        try add(store, fleet)
        expected += 1
        var attempts = 0
        do {
          let isNew = try store.write(origin: nil) { writing in
            attempts += 1
            defer { if attempts == 1 { isWritten() } }
            if inserts {
              rows += 1
              return try writing.insert(fleet.row(rows, 0), for: fleet.key(rows))
            }
            guard let old = try writing.row(of: fleet.key(0)), case .integer(let last) = old.values[1] else {
              return false
            }
            try writing.update(
              fleet.row(0, Int(last) + 1, stamp: Double(last) + 2), replacing: old, for: fleet.key(0))
            return true
          }
          #expect(isNew, comment)
          if !inserts { expected += 1 }
        } catch { Issue.record("\(comment): \(error)") }
        // An attempt that had no effect was made with another id.
        if inserts { inserted.append(rows) }
        proxy.cutNoMore()
        #expect(try number(direct, fleet) == expected, comment)
        #expect(try fleet.sql("SELECT count(*) FROM \"Progress\"") == "\(inserted.count + 1)", comment)
        if let last = inserted.last { #expect(try number(direct, fleet, last) == 0, comment) }
      }
      var random = SeededNumbers(seed: Self.seed)
      for inserts in [false, true] {
        try writeTwice(inserts: inserts, "all pass") { proxy.count() }
        // Those of the connection's end, too.
        let total = (requests: proxy.counted.requests + 8, answers: proxy.counted.answers + 8)
        print("commit in doubt: \(inserts ? "insert" : "update"), \(total) bytes, CONCORD_RANDOM_SEED=\(Self.seed)")
        for cutsAnswers in [false, true] {
          let bytes = Array(0...(cutsAnswers ? total.answers : total.requests))
          for byte in TestOptions.isLong ? bytes : bytes.shuffled(using: &random).prefix(16).sorted() {
            let comment =
              "byte \(byte) of \(cutsAnswers ? "answers" : "requests") of an \(inserts ? "insert" : "update")"
            try writeTwice(inserts: inserts, "\(comment)") { proxy.cut(after: byte, ofAnswers: cutsAnswers) }
          }
        }
      }
    }

    @Test("A transaction that a crash has lost, and whose id another one gets, is not taken for that one")
    func reusedIDs() throws {
      let server = try PostgreSQLServer(isFast: false)
      defer { try? server.stop() }
      // What is not committed is not on the disk then when the server crashes.
      try server.sql("ALTER SYSTEM SET wal_writer_delay TO '10s'")
      try server.restart()
      let fleet = try Fleet(server)
      let (store, other) = (try fleet.store(), try fleet.store())
      defer { for store in [store, other] { try? store.close() } }
      try store.write(origin: nil) { writing in
        for id in 0..<2 { _ = try writing.insert(fleet.row(id, 0), for: fleet.key(id)) }
      }
      var isReused = false
      for round in 1...5 where !isReused {
        var (lost, attempts) = (UInt64(0), 0)
        try store.write(origin: nil) { writing in
          attempts += 1
          let old = try #require(try writing.row(of: fleet.key(0)))
          try writing.update(fleet.row(0, round, stamp: Double(round) + 1), replacing: old, for: fleet.key(0))
          guard attempts == 1 else { return }
          try (writing as? PostgreSQLSession)?.flush()
          lost = try #require((writing as? PostgreSQLSession)?.transactionID)
          try server.restart("immediate")
          // Each write takes two ids, as its notification does.
          if round.isMultiple(of: 2) { try server.sql("SELECT pg_current_xact_id()") }
          for _ in 0..<3 where !isReused {
            try other.write(origin: nil) { writing in
              let old = try #require(try writing.row(of: fleet.key(1)))
              guard case .integer(let last) = old.values[1] else { return }
              try writing.update(
                fleet.row(1, Int(last) + 1, stamp: Double(last) + 2), replacing: old, for: fleet.key(1))
              try (writing as? PostgreSQLSession)?.flush()
              isReused = isReused || (writing as? PostgreSQLSession)?.transactionID == lost
            }
          }
        }
        #expect(attempts == 2)
        #expect(try number(other, fleet) == round)
      }
      #expect(isReused)
    }

    @Test("The server crashes and starts while stores write: no acknowledged write is lost, none is there twice")
    func crashes() throws {
      let server = try PostgreSQLServer(isFast: false)
      defer { try? server.stop() }
      let fleet = try Fleet(server)
      let stores = try (0..<2).map { _ in try fleet.store(pollInterval: 0.1) }
      defer { for store in stores { try? store.close() } }
      try stores[0].write(origin: nil) { writing in
        for id in 0..<4 { _ = try writing.insert(fleet.row(id, 0), for: fleet.key(id)) }
      }
      let told = Locked(0)
      let observation = stores[1].observeCommits { _ in told.withLock { $0 += 1 } }
      let isDone = Locked(false)
      let counts = (0..<4).map { _ in Locked(0) }
      let failures = Locked(0)
      let group = DispatchGroup()
      for id in 0..<4 {
        group.enter()
        Thread.detachNewThread {
          while !isDone.withLock({ $0 }) {
            do {
              try add(stores[id % 2], fleet, id: id)
              counts[id].withLock { $0 += 1 }
            } catch {
              failures.withLock { $0 += 1 }
              Thread.sleep(forTimeInterval: 0.02)
            }
          }
          group.leave()
        }
      }
      for round in 0..<3 {
        Thread.sleep(forTimeInterval: 0.4)
        if round == 1 {
          try server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'shop'")
        } else {
          try server.restart("immediate")
        }
      }
      Thread.sleep(forTimeInterval: 0.5)
      isDone.withLock { $0 = true }
      #expect(group.wait(timeout: .now() + 60) == .success)
      for id in 0..<4 { #expect(try number(stores[0], fleet, id) == counts[id].withLock { $0 }, "row \(id)") }
      print("crashes: \(counts.map { $0.withLock { $0 } }), \(failures.withLock { $0 }) failures")
      #expect(told.withLock { $0 } > 0)
      withExtendedLifetime(observation) {}
    }
  }
#endif
