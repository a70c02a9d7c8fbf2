#if Persistence
  import Concord
  import ConcordConnect
  import ConcordTestShared
  import Foundation
  import Testing

  @Suite("The outbox, killed and failed", .serialized)
  struct OutboxFaultTests {
    /// How often, and how many actions over how many entities. `CONCORD_OUTBOX_ROUNDS`, `CONCORD_OUTBOX_ACTIONS` and
    /// `CONCORD_OUTBOX_ENTITIES` say otherwise.
    private static var rounds: Int { TestOptions.number("CONCORD_OUTBOX_ROUNDS") ?? 20 }
    private static var actions: Int { TestOptions.number("CONCORD_OUTBOX_ACTIONS") ?? (TestOptions.isLong ? 1000 : 40) }
    private static var entities: Int { TestOptions.number("CONCORD_OUTBOX_ENTITIES") ?? (TestOptions.isLong ? 50 : 10) }

    @Test(
      "Whatever fails and whoever is killed, each action is applied once, in order, and the client shows what the server has",
      arguments: StoreKind.lasting)
    func killAndFault(_ kind: StoreKind) async throws {
      for seed in TestOptions.seeds(kind.share(of: Self.rounds), from: .random(in: 0..<1_000_000)) {
        try await withFolder { folder in try await run(kind, seed, folder) }
      }
    }

    private func run(_ kind: StoreKind, _ seed: UInt64, _ folder: URL) async throws {
      var random = SeededNumbers(seed: seed)
      let (actions, entities) = (Self.actions, Self.entities)
      let comment: Comment =
        "CONCORD_RANDOM_SEED=\(seed) CONCORD_OUTBOX_ACTIONS=\(actions) CONCORD_OUTBOX_ENTITIES=\(entities)"
      let server = try FaultyServer(folder.appending(path: "Server.sqlite"), faults: 15, seed: seed)
      try await server.start()
      var queued: Set<Int> = []
      var kills = 0
      let limit = ContinuousClock.now + .seconds(120)
      var isDone = false
      while !isDone, ContinuousClock.now < limit {
        let child = try ChildProcess([
          "forward", kind.place(folder), server.url.absoluteString, "\(actions)", "\(entities)", "\(seed)",
        ])
        // Killed at any time, and left alone in the end.
        let life =
          kills < (TestOptions.isLong ? 8 : 3)
          ? Duration.milliseconds(Int.random(in: 30...350, using: &random)) : .seconds(60)
        let restart = Int.random(in: 0..<3, using: &random) == 0
        let end = ContinuousClock.now + life
        if restart {
          try await Task.sleep(for: min(life / 3, .milliseconds(150)))
          await server.stop()
          try await Task.sleep(for: .milliseconds(Int.random(in: 0...60, using: &random)))
          try await server.start()
        }
        while ContinuousClock.now < end, child.isRunning { try await Task.sleep(for: .milliseconds(2)) }
        if child.isRunning { kills += 1 }
        child.kill()
        for line in child.lines where line.hasPrefix("queued ") {
          // Nothing that was durable is forwarded again.
          #expect(queued.insert(Int(line.dropFirst(7)) ?? -1).inserted, comment)
        }
        #expect(!child.lines.contains { $0.hasPrefix("wrong") }, comment)
        isDone = child.lines.contains("done")
      }
      await server.stop()
      #expect(isDone, comment)
      let applied = try server.applied()
      #expect(applied.map(\.number).sorted() == Array(0..<actions), comment)
      let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Tallies", model: try tallyModel())
      try container.attachStore(at: kind.place(folder))
      for tally in try container.stored(Tally.self) {
        let numbers = applied.filter { $0.tally == tally.id }.map(\.number)
        #expect(numbers == numbers.sorted(), comment)
        #expect(tally.log == numbers.map { " \($0)" }.joined() && tally.count == numbers.count, comment)
      }
      for store in container.persistentStores { try container.detach(persistentStore: store) }
    }

    @Test("The service fails in each of its ways, and is told of them apart")
    func faults() async throws {
      try await withFolder { folder in
        let server = try FaultyServer(folder.appending(path: "Server.sqlite"), faults: 60, seed: 1)
        try await server.start()
        let connect = try tallyConnect(folder, server: server.url, tallies: 8)
        try await connect.start()
        for number in 0..<60 { try await connect.forward(AddNumber(tally: number % 8, number: number)) }
        await connect.outbox.idle()
        #expect(server.counts.withLock { Set($0.keys) } == Set(FaultyServer.Fault.allCases))
        #expect(try server.applied().map(\.number).sorted() == Array(0..<60))
        #expect(try connect.stored(Tally.self).allSatisfy { $0.count == (60 - $0.id + 7) / 8 })
        try await connect.stop()
        await server.stop()
      }
    }

    @Test(
      "Of two processes one sends, and the other takes over within two seconds of its death",
      arguments: StoreKind.lasting)
    func takeOver(_ kind: StoreKind) async throws {
      try await withFolder { folder in
        let server = try FaultyServer(folder.appending(path: "Server.sqlite"), faults: 0, seed: 1)
        try await server.start()
        let child = try ChildProcess(["forward", kind.place(folder), server.url.absoluteString, "1000000", "4", "7"])
        #expect(try await eventually { child.lines.contains("sends") && child.lines.contains("queued 20") })
        let connect = try tallyConnect(at: kind.place(folder), server: server.url, tallies: 4)
        try await connect.start()
        try await Task.sleep(for: .milliseconds(400))
        #expect(!connect.outbox.isSender)
        child.kill()
        var sends = false
        let time = try await timeBesidesLoad { sends = try await eventually { connect.outbox.isSender } }
        #expect(sends && time < .seconds(2))
        await connect.outbox.idle()
        let applied = try server.applied()
        #expect(applied.map(\.number).sorted() == Array(0..<applied.count))
        #expect(try connect.stored(Tally.self).reduce(0) { $0 + $1.count } == applied.count)
        // What the dead process had said to be durable has reached the server.
        let last = child.lines.last { $0.hasPrefix("queued ") }.flatMap { Int($0.dropFirst(7)) } ?? .max
        #expect(applied.count > last)
        try await connect.stop()
        await server.stop()
      }
    }
  }
#endif
