#if PostgreSQL
  import Concord
  import ConcordTestShared
  import ConcordTestSupport
  import Foundation
  import Testing

  @testable import ConcordConnect
  @testable import ConcordPostgreSQL

  @Suite("The outbox of a fleet", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct OutboxFleetTests {
    /// The connections that hold the lock of a schema's outbox.
    private func holders(_ schema: String) -> String {
      """
      FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted \
      AND (classid::bigint << 32) | objid::bigint = hashtextextended(\(literal("concord.outbox.\(schema)")), 1)
      """
    }

    @Test(
      "Whoever is killed while sending, and whatever loses its lock: each action is sent with its key, none is lost, none is accepted twice"
    )
    func killedWhileSending() async throws {
      for seed in TestOptions.seeds(TestOptions.isLong ? 30 : 3, from: .random(in: 0..<1_000_000)) {
        try await withFolder { folder in try await run(seed, folder, kills: seed % 3 != 2) }
      }
    }

    private func run(_ seed: UInt64, _ folder: URL, kills: Bool) async throws {
      let comment: Comment = "CONCORD_RANDOM_SEED=\(seed) \(kills)"
      var random = SeededNumbers(seed: seed)
      let (count, tallies) = (40, 6)
      let database = try PostgreSQLServer.shared.get()
      let schema = folder.lastPathComponent
      let place = "\(database.url)#\(schema)"
      let server = try FaultyServer(folder.appending(path: "Server.sqlite"), faults: 15, seed: seed)
      try await server.start()
      // Makes the tallies.
      let first = try tallyConnect(at: place, server: server.url, tallies: tallies)
      for store in first.persistentStores { try first.detach(persistentStore: store) }
      var lives = 0
      func begin() throws -> ChildProcess {
        lives += 1
        return try ChildProcess([
          "relay", place, server.url.absoluteString, "\(lives * 1000)", "\(count)", "\(tallies)",
          "\(seed + UInt64(lives))",
        ])
      }
      var processes = try (0..<3).map { _ in try begin() }
      defer { for process in processes { process.kill() } }
      var lines: [String] = []
      for _ in 0..<4 {
        let isThere = try await eventually {
          processes.contains { $0.lines.last { !$0.hasPrefix("queued") && !$0.hasPrefix("failed") } == "sends" }
        }
        #expect(isThere, comment)
        try await Task.sleep(for: .milliseconds(Int.random(in: 0...150, using: &random)))
        if kills {
          let sender = processes.firstIndex { $0.lines.contains("sends") } ?? 0
          processes[sender].kill()
          lines += processes[sender].lines
          processes[sender] = try begin()
        } else {
          try database.sql("SELECT pg_terminate_backend(pid) \(holders(schema))")
        }
      }
      #expect(
        try await eventually(60) {
          processes.allSatisfy { $0.lines.contains { $0 == "done" || $0.hasPrefix("wrong") } }
        }, comment)
      #expect(try await eventually { try database.sql("SELECT count(*) \(holders(schema))") == "1" }, comment)
      for process in processes {
        process.kill()
        lines += process.lines
      }
      await server.stop()
      #expect(!lines.contains { $0.hasPrefix("wrong") }, comment)
      let applied = try server.applied()
      let numbers = applied.map(\.number)
      #expect(Set(numbers).count == numbers.count, comment)
      let queued = Set(lines.filter { $0.hasPrefix("queued ") }.compactMap { Int($0.dropFirst(7)) })
      #expect(queued.subtracting(numbers) == [], comment)
      // Of each life that was killed, one may have been durable before that was said.
      let unsaid = Set(numbers).subtracting(queued)
      #expect(unsaid.count <= lives - 3 && Set(unsaid.map { $0 / 1000 }).count == unsaid.count, comment)
      let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Tallies", model: try tallyModel())
      try container.attachStore(at: place)
      for tally in try container.stored(Tally.self) {
        let numbers = applied.filter { $0.tally == tally.id }.map(\.number)
        #expect(tally.log == numbers.map { " \($0)" }.joined() && tally.count == numbers.count, comment)
        for life in 1...lives {
          let own = numbers.filter { $0 / 1000 == life }
          #expect(own == own.sorted(), comment)
        }
      }
      for store in container.persistentStores { try container.detach(persistentStore: store) }
    }

    @Test("Who loses the connection that holds the lock sends no longer, and another one does")
    func lostLock() async throws {
      try await withFolder { folder in
        let database = try PostgreSQLServer.shared.get()
        let (first, second) = (ScriptedTransport(), ScriptedTransport())
        try await withOutbox(.postgreSQL, first, in: folder) { a in
          #expect(try await eventually { a.outbox.isSender })
          try await withOutbox(.postgreSQL, second, in: folder) { b in
            try database.sql("SELECT pg_terminate_backend(pid) \(holders(folder.lastPathComponent))")
            #expect(try await eventually { b.outbox.isSender })
            #expect(try await eventually { !a.outbox.isSender })
            try await a.forward(Raise(book: 1, note: "a"))
            try await b.forward(Raise(book: 2, note: "b"))
            #expect(try await eventually { b.outbox.pending.isEmpty && a.outbox.pending.isEmpty })
            #expect(first.bodies == [] && second.bodies.sorted() == ["a", "b"])
          }
          // It takes the place again.
          try await a.forward(Raise(book: 3, note: "c"))
          await a.outbox.idle()
          #expect(first.bodies == ["c"])
        }
      }
    }

    @Test("Who loses the lock, and is the only one, takes it again")
    func lostAlone() async throws {
      try await withFolder { folder in
        let database = try PostgreSQLServer.shared.get()
        let transport = ScriptedTransport()
        try await withOutbox(.postgreSQL, transport, in: folder) { connect in
          #expect(try await eventually { connect.outbox.isSender })
          try database.sql("SELECT pg_terminate_backend(pid) \(holders(folder.lastPathComponent))")
          #expect(try await eventually { !connect.outbox.isSender })
          try await connect.forward(Raise(book: 1, note: "a"))
          await connect.outbox.idle()
          #expect(transport.bodies == ["a"] && connect.outbox.isSender)
          #expect(try database.sql("SELECT count(*) \(holders(folder.lastPathComponent))") == "1")
        }
      }
    }
  }
#endif
