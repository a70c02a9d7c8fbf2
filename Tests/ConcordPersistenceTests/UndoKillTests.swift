#if Persistence
  import ConcordTestShared
  import Foundation
  import GRDB
  import Testing

  @testable import ConcordPersistence

  // Not Foundation's.
  private typealias Progress = ConcordTestShared.Progress

  @Suite("Undo, killed", .serialized)
  struct UndoKillTests {
    /// `CONCORD_KILL_ROUNDS` says how often.
    private func rounds(_ kind: StoreKind) -> Int {
      TestOptions.number("CONCORD_KILL_ROUNDS") ?? (kind.isShared ? 5 : 20)
    }

    private func content(_ kind: StoreKind, _ folder: URL) throws -> (done: Int, entries: [Entry]) {
      let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Process", model: try processModel())
      let store = try container.attachStore(at: kind.place(folder))
      defer { try? container.detach(persistentStore: store) }
      let context = container.newBackgroundContext()
      // One state: what a killed process had sent to a database may still be on its way.
      return try context.performAndWait { context in
        (try context.find(Progress.self, id: 0)?.last ?? 0, try context.fetch(FetchDescriptor<Entry>()))
      }
    }

    @Test(
      "After kill -9 while steps are recorded, undone and redone, each is done or not done, whole, and a new process goes on from there",
      arguments: StoreKind.lasting, ["direct", "mixed"])
    func killed(_ kind: StoreKind, _ strategy: String) async throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "concord-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      let place = try kind.place(folder)
      var (between, round) = (0, 0)
      // Until one was killed in the middle of something, as most are.
      while round < rounds(kind) || between == 0 && round < 20 * rounds(kind) {
        defer { round += 1 }
        let process = try ChildProcess(["undo", place, strategy])
        #expect(try await eventually { process.lines.count { $0.hasPrefix("at ") } > 2 || !process.isRunning })
        try await Task.sleep(for: .microseconds(Int.random(in: 0..<20_000)))
        process.kill()
        let lines = process.lines
        let comment: Comment = "\(kind), \(strategy), round \(round): \(lines.suffix(3))"
        #expect(!lines.contains { $0.hasPrefix("wrong") }, comment)
        func last(_ word: String) throws -> Int {
          try #require(lines.last { $0.hasPrefix(word) }.flatMap { Int($0.dropFirst(word.count)) }, comment)
        }
        let allowed = [try last("at "), try last("going ")]
        if allowed[0] != allowed[1] { between += 1 }
        #expect(try await eventually { try kind.isAlone(folder) })
        let (done, entries) = try content(kind, folder)
        #expect(allowed.contains(done) && entries == NumberedStep.entries(after: done), comment)
      }
      #expect(between > 0)
    }
  }

  extension StoreKind {
    /// Whether what killed processes had begun in a store has ended. A file is released by the kernel.
    fileprivate func isAlone(_ folder: URL) throws -> Bool {
      #if PostgreSQL
        if self == .postgreSQL {
          let others = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'shop' AND state <> 'idle'"
          return try PostgreSQLServer.shared.get().sql(others) == "0"
        }
      #endif
      let file = try DatabaseQueue(path: folder.appending(path: "Process.sqlite").path)
      return try file.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok"
    }
  }
#endif
