#if Persistence
  import Concord
  import ConcordTestShared
  import Foundation
  import GRDB
  import Testing

  @testable import ConcordPersistence

  @Suite("Processes", .serialized)
  struct ProcessTests {
    private func withFolder<R>(_ body: (URL) async throws -> R) async throws -> R {
      let folder = FileManager.default.temporaryDirectory.appending(path: "concord-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      return try await body(folder)
    }

    private func content(_ folder: URL) throws -> (check: String?, last: Int, entries: Int, wrong: Int) {
      let store = try SQLiteStore(url: folder.appending(path: "Process.sqlite"), entities: processModel().entities)
      defer { try? store.close() }
      return try store.pool.read { db in
        (
          try String.fetchOne(db, sql: "PRAGMA integrity_check"),
          try Int.fetchOne(db, sql: "SELECT last FROM Progress WHERE id = 0") ?? 0,
          try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM Entry") ?? 0,
          try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM Entry WHERE text <> CAST(id AS TEXT)") ?? 0
        )
      }
    }

    /// `CONCORD_KILL_ROUNDS` says how often.
    @Test("What was acknowledged survives kill -9, and no save is there by half")
    func survival() async throws {
      let rounds = TestOptions.number("CONCORD_KILL_ROUNDS") ?? 200
      let strategies = ["direct", "mixed", "indirectNested"]
      var saves = 0
      for batch in 0..<(rounds + 19) / 20 {
        try await withFolder { folder in
          for round in 0..<min(20, rounds - batch * 20) {
            let strategy = strategies[(batch + round) % 3]
            let process = try ChildProcess(["save", folder.path, strategy])
            #expect(try await eventually { process.lines.contains { $0.hasPrefix("saved ") } })
            try await Task.sleep(for: .microseconds(Int.random(in: 0..<20_000)))
            process.kill()
            let acknowledged = process.lines.last.flatMap { Int($0.dropFirst("saved ".count)) } ?? 0
            saves += process.lines.count
            let comment: Comment = "\(strategy), batch \(batch), round \(round)"
            let (check, last, entries, wrong) = try content(folder)
            #expect(check == "ok", comment)
            #expect(acknowledged > 0 && last >= acknowledged, comment)
            #expect(entries == 2 * last && wrong == 0, comment)
          }
        }
      }
      #expect(saves > rounds)
    }

    @Test("Two processes see what the other one commits, in view and live query, within 100 ms")
    func twoProcesses() async throws {
      try await withFolder { folder in
        let container = GenericPersistentContainer<CountingStrategy>(name: "Process", model: try processModel())
        try container.attachPersistentStore(at: folder)
        let context = container.newBackgroundContext()
        context.insert(Entry(id: 1, text: "first"))
        try context.save()
        let first = try #require(try container.viewContext.find(Entry.self, id: 1))
        let all = try container.viewContext.query(FetchDescriptor<Entry>())
        let awaited = container.viewContext.store.observer(Entry.self, id: 1_000_001)
        let process = try ChildProcess(["serve", folder.path])
        defer { process.kill() }
        #expect(try await eventually { process.lines.contains("ready") })
        var delays: [Duration] = []
        for step in 0..<20 {
          // Theirs.
          process.say("theirs \(step)")
          #expect(try await eventually { process.lines.count { $0 == "done" } == step + 1 })
          var isTold = false
          delays.append(
            try await timeBesidesLoad {
              isTold = try await eventually { all.value.contains { $0.text == "theirs \(step)" } }
            })
          #expect(isTold)
          // Ours.
          context.insert(Entry(id: 100 + step, text: "ours \(step)"))
          try context.save()
          delays.append(
            try await timeBesidesLoad {
              isTold = try await eventually { process.lines.contains("sees ours \(step)") }
            })
          #expect(isTold)
        }
        #expect(awaited.value != nil)
        #expect(first.value.text == "first")
        #expect(delays.sorted()[delays.count / 2] < .milliseconds(100), "\(delays)")
        #expect(try context.count(FetchDescriptor<Entry>()) == 41)
        // A change of what is shown, by any other program.
        let other = try otherProgram(folder.appending(path: "Process.sqlite"))
        try await other.write { try $0.execute(sql: "UPDATE Entry SET text = 'changed' WHERE id = 1") }
        #expect(try await eventually { first.value.text == "changed" })
        try await other.write { try $0.execute(sql: "DELETE FROM Entry WHERE id = 1") }
        #expect(try await eventually { first.isRemoved && !all.value.contains { $0.id == 1 } })
        #expect(!process.lines.contains { $0.hasPrefix("error") })
      }
    }

    @Test("What a process commits itself is not taken for what another one did")
    func ownCommits() async throws {
      try await withFolder { folder in
        let store = try SQLiteStore(url: folder.appending(path: "Process.sqlite"), entities: processModel().entities)
        defer { try? store.close() }
        let told = Locked<[StoreCommit]>([])
        let observation = store.observeCommits { commit in told.withLock { $0.append(commit) } }
        let coordinator = PersistentStoreCoordinator(model: try processModel())
        try coordinator.attach(store, configuration: "")
        let context = coordinator.newContext()
        for step in 0..<20 {
          context.insert(Entry(id: step, text: ""))
          try context.save()
          _ = try context.count(FetchDescriptor<Entry>())
          try await Task.sleep(for: .milliseconds(20))
        }
        try await Task.sleep(for: .milliseconds(150))
        store.settle()
        #expect(told.withLock { $0 }.map { $0.keys?.count } == Array(repeating: 1, count: 20))
        withExtendedLifetime(observation) {}
      }
    }

    @Test("What another process commits is told also if it comes before the first look at the file")
    func beforeFirstLook() async throws {
      try await withFolder { folder in
        let file = folder.appending(path: "Process.sqlite")
        let store = try SQLiteStore(url: file, entities: processModel().entities)
        defer { try? store.close() }
        let told = Locked(0)
        func observe() throws -> StoreObservation {
          // The first look waits for the connection.
          try store.pool.writeWithoutTransaction { _ in
            let observation = store.observeCommits { commit in told.withLock { $0 += commit.keys == nil ? 1 : 0 } }
            let other = try otherProgram(file)
            try other.write { try $0.execute(sql: "INSERT INTO Entry (id, text, _stamp) VALUES (1, '', 0)") }
            Thread.sleep(forTimeInterval: 0.1)
            return observation
          }
        }
        let observation = try observe()
        #expect(try await eventually { told.withLock { $0 } == 1 })
        withExtendedLifetime(observation) {}
      }
    }

    /// A connection to a file that is none of a store's, and that waits for its turn.
    private func otherProgram(_ file: URL) throws -> DatabaseQueue {
      var configuration = Configuration()
      configuration.busyMode = .timeout(10)
      return try DatabaseQueue(path: file.path, configuration: configuration)
    }

    /// A file that a store follows, and another connection that commits to it.
    private struct Followed {
      let file: URL
      let other: DatabaseQueue
      let told: Locked<Int>
      var count: Int { told.withLock { $0 } }

      /// Commits, and gives the log a date.
      func commit(_ id: Int, _ date: Date) throws {
        try other.write { try $0.execute(sql: "INSERT INTO Entry (id, text, _stamp) VALUES (\(id), '', 0)") }
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: "\(file.path)-wal")
      }
    }

    private func withFollowedFile(_ body: (Followed) async throws -> Void) async throws {
      try await withFolder { folder in
        let file = folder.appending(path: "Process.sqlite")
        let store = try SQLiteStore(url: file, entities: processModel().entities)
        defer { try? store.close() }
        let told = Locked(0)
        let observation = store.observeCommits { commit in told.withLock { $0 += commit.keys == nil ? 1 : 0 } }
        try await body(Followed(file: file, other: try otherProgram(file), told: told))
        withExtendedLifetime(observation) {}
      }
    }

    @Test("What another process commits right after a look is told also if the clock of the files stood still")
    func sameDate() async throws {
      try await withFollowedFile { followed in
        for round in 0..<40 {
          try await Task.sleep(for: .milliseconds(120))
          let (before, date) = (followed.count, Date(timeIntervalSinceNow: -0.06))
          try followed.commit(2 * round, date)
          while followed.count == before, date.timeIntervalSinceNow > -1 { usleep(500) }
          let between = followed.count
          try followed.commit(2 * round + 1, date)
          // A machine that is busy took longer than a clock stands still.
          guard date.timeIntervalSinceNow > -0.098 else { continue }
          try #require(try await eventually { followed.count > between })
        }
      }
    }

    @Test("What another process commits is told also where files have dates of whole seconds only")
    func wholeSeconds() async throws {
      try await withFollowedFile { followed in
        let date = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
        for id in 1...3 {
          let before = followed.count
          try followed.commit(id, date)
          try #require(try await eventually { followed.count > before })
          // The look that told it is long over.
          try await Task.sleep(for: .milliseconds(200))
        }
      }
    }

    @Test("Following a file that nobody writes to takes less than 1 % of a processor")
    func idle() async throws {
      try await withFolder { folder in
        // The least of three, since other programs run as well.
        let used = try (0..<3).map { _ in
          let process = try ChildProcess(["idle", folder.path])
          process.waitUntilExit()
          return try #require(process.lines.last.flatMap(Int.init))
        }
        #expect(used.contains { $0 < 20_000 }, "\(used) µs in 2 s")
      }
    }
  }
#endif
