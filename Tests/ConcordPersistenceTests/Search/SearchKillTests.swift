#if Persistence
  import ConcordTestShared
  import Foundation
  import GRDB
  import Testing

  @testable import ConcordPersistence

  #if PostgreSQL
    @testable import ConcordPostgreSQL
  #endif

  @Suite("Searches after kill -9", .serialized)
  struct SearchKillTests {
    private let rounds = TestOptions.isLong ? 60 : 6

    /// Writes as another program does, so that many rows are noted.
    private func change(_ kind: StoreKind, _ folder: URL, _ round: Int) throws {
      let update = "UPDATE \"Memo\" SET text = text || ' round\(round)' WHERE id % 3 = \(round % 3)"
      #if PostgreSQL
        if kind.isShared {
          let schema = identifier(folder.lastPathComponent)
          try PostgreSQLServer.shared.get().sql("SET search_path TO \(schema); \(update)")
          return
        }
      #endif
      let queue = try DatabaseQueue(path: folder.appending(path: "Memos.sqlite").path)
      defer { try? queue.close() }
      try queue.write { try $0.execute(sql: update) }
    }

    @Test(
      "A process that is killed while it folds words or saves texts leaves searches that agree with the texts",
      arguments: StoreKind.lasting)
    func killed(_ kind: StoreKind) async throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "concord-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      var saves = 0
      for round in 0..<rounds {
        if round > 0 { try change(kind, folder, round) }
        let process = try ChildProcess(["words", try kind.place(folder), "\(round)"])
        // Half of them are killed when they attach, which folds what is noted.
        let mark = round % 2 == 0 ? "saved " : "begins"
        #expect(try await eventually { process.lines.contains { $0.hasPrefix(mark) } })
        try await Task.sleep(for: .microseconds(Int.random(in: 0..<30_000)))
        process.kill()
        saves += process.lines.count { $0.hasPrefix("saved ") }
        let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Memos", model: try memoModel())
        let store = try container.attachStore(at: kind.place(folder))
        let context = container.newBackgroundContext()
        let all = try context.fetch(FetchDescriptor<Memo>())
        for query in (0..<50).map({ "w\($0)" }) + (0..<round).map({ "round\($0)" }) {
          let found = try context.fetch(FetchDescriptor<Memo>(search: SearchQuery(query))).map(\.id).sorted()
          let expected = all.filter { $0.text.split(separator: " ").contains(Substring(query)) }.map(\.id).sorted()
          #expect(found == expected, "round \(round), \(query)")
        }
        try container.detach(persistentStore: store)
      }
      #expect(saves > 0)
    }
  }
#endif
