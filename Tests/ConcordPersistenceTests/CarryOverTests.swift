#if Persistence
  import Concord
  import ConcordTestShared
  import Foundation
  import GRDB
  import Testing

  @testable import ConcordPersistence

  @Suite("Carrying an app's data over")
  struct CarryOverTests {
    private struct Interruption: Error {}

    /// A file as Core Data makes it, with notes.
    private func withCoreDataFile(_ notes: Int, _ body: (URL, DatabaseQueue) throws -> Void) throws {
      try withFolder { folder in
        let queue = try DatabaseQueue(path: folder.appending(path: "Process.sqlite").path)
        try queue.write { db in
          try db.execute(
            sql: """
              CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
              CREATE TABLE ZENTRY (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZID INTEGER, ZTEXT VARCHAR);
              """)
          for note in 0..<notes {
            try db.execute(
              sql: "INSERT INTO ZENTRY (Z_ENT, Z_OPT, ZID, ZTEXT) VALUES (1, 1, ?, ?)",
              arguments: [note, "text \(note)"])
          }
        }
        try body(folder, queue)
        try queue.close()
      }
    }

    private func read(_ queue: DatabaseQueue, _ offset: Int, _ limit: Int) throws -> [Entry]? {
      try queue.read { db in
        let rows = try Row.fetchAll(
          db, sql: "SELECT ZID, ZTEXT FROM ZENTRY ORDER BY ZID LIMIT ? OFFSET ?", arguments: [limit, offset])
        return rows.isEmpty ? nil : rows.map { Entry(id: $0["ZID"], text: $0["ZTEXT"]) }
      }
    }

    @Test(
      "All of it is there once, wherever it was interrupted, and nothing is brought back that was changed since",
      arguments: [StrategyKind.direct, .mixed])
    func interrupted(_ strategy: StrategyKind) throws {
      try withCoreDataFile(23) { folder, queue in
        // Where the app's own file lies, Concord's does not get.
        let model = try Model("Process", entities: [Entry.self, CarriedOver.self])
        #expect(
          reason { try strategy.container(model, named: "Process").attachPersistentStore(at: folder) }
            == "the store 'Process.sqlite' is not Concord's: it is a Core Data file")
        for interruption in 0...7 {
          for run in 0...2 {
            let container = strategy.container(model, named: "Process")
            let store = try container.attachPersistentStore(at: folder.appending(path: "\(interruption)"))
            try check(container, queue, interruption, run)
            try container.detach(persistentStore: store)
          }
        }
      }
    }

    private struct IncompleteRow: Error {}

    @Test("A row that lacks what an entity needs ends it before its batch is stored, and it goes on from there")
    func incomplete() throws {
      try withCoreDataFile(12) { folder, queue in
        try queue.write { try $0.execute(sql: "UPDATE ZENTRY SET ZTEXT = NULL WHERE ZID = 7") }
        let container = StrategyKind.direct.container(
          try Model("Process", entities: [Entry.self, CarriedOver.self]), named: "Process")
        let store = try container.attachPersistentStore(at: folder.appending(path: "own"))
        let context = container.newBackgroundContext()
        func carry() throws {
          try carryOver(Entry.self, to: container, batch: 5) { offset, limit in
            let rows = try queue.read { db in
              try Row.fetchAll(
                db, sql: "SELECT ZID, ZTEXT FROM ZENTRY ORDER BY ZID LIMIT ? OFFSET ?", arguments: [limit, offset])
            }
            return rows.isEmpty
              ? nil
              : try rows.map { row in
                guard let id = row["ZID"] as Int?, let text = row["ZTEXT"] as String? else { throw IncompleteRow() }
                return Entry(id: id, text: text)
              }
          }
        }
        for _ in 0..<2 {
          #expect(throws: IncompleteRow.self) { try carry() }
          #expect(try context.fetch(FetchDescriptor<Entry>()).map(\.id) == Array(0..<5))
          #expect(try context.find(CarriedOver.self, id: Entry.entityName)?.isDone == false)
        }
        try queue.write { try $0.execute(sql: "UPDATE ZENTRY SET ZTEXT = 'mended' WHERE ZID = 7") }
        try carry()
        let found = try context.fetch(FetchDescriptor<Entry>())
        #expect(found.map(\.id) == Array(0..<12) && found[7].text == "mended")
        try container.detach(persistentStore: store)
      }
    }

    @Test("Where two processes carry over at once, what one of them edits and deletes meanwhile stays")
    func twoAtOnce() throws {
      try withCoreDataFile(23) { folder, queue in
        let model = try Model("Process", entities: [Entry.self, CarriedOver.self])
        let containers = [StrategyKind.direct, .direct].map { $0.container(model, named: "Process") }
        for container in containers { try container.attachPersistentStore(at: folder.appending(path: "own")) }
        try carryOver(Entry.self, to: containers[0], batch: 5) { offset, limit in
          if offset == 5 {
            try carryOver(Entry.self, to: containers[1], batch: 5) { try read(queue, $0, $1) }
            let context = containers[1].newBackgroundContext()
            try context.update(Entry.self, id: 7) { $0.text = "changed" }
            try context.delete(Entry.self, id: 8)
            try context.save()
          }
          return try read(queue, offset, limit)
        }
        let found = try containers[1].newBackgroundContext().fetch(FetchDescriptor<Entry>())
        #expect(found.map(\.id) == (0..<23).filter { $0 != 8 })
        #expect(found.first { $0.id == 7 }?.text == "changed")
        #expect(found.filter { $0.id != 7 }.allSatisfy { $0.text == "text \($0.id)" })
        for container in containers { try container.detach(persistentStores: container.persistentStores) }
      }
    }

    /// Carries over, is interrupted before a read in the first run, and goes on in the second one.
    private func check(
      _ container: any PersistentContainer, _ queue: DatabaseQueue, _ interruption: Int, _ run: Int
    ) throws {
      let reads = Locked(0)
      let problem = reason {
        try carryOver(Entry.self, to: container, batch: 5) { offset, limit in
          if run == 0, reads.withLock({ $0 }) == interruption { throw Interruption() }
          reads.withLock { $0 += 1 }
          return try read(queue, offset, limit)
        }
      }
      #expect((problem == nil) == (run > 0 || interruption > 5))
      let isChanged = interruption > 0
      let context = container.newBackgroundContext()
      if run == 0 {
        guard isChanged else { return }
        try context.update(Entry.self, id: 1) { $0.text = "changed" }
        try context.delete(Entry.self, id: 2)
        return try context.save()
      }
      if run == 2 { #expect(reads.withLock { $0 } == 0) }
      let all = (0..<23).map { Entry(id: $0, text: "text \($0)") }
      let changed = all.filter { $0.id != 2 }.map { $0.id == 1 ? Entry(id: 1, text: "changed") : $0 }
      #expect(try context.fetch(FetchDescriptor<Entry>()) == (isChanged ? changed : all))
    }

    @Test("It goes on after kill -9")
    func killed() async throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "concord-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      var isDone = false
      var rounds = 0
      while !isDone, rounds < 200 {
        rounds += 1
        let process = try ChildProcess(["carry", folder.path])
        #expect(try await eventually { !process.lines.isEmpty })
        try await Task.sleep(for: .microseconds(Int.random(in: 0..<8000)))
        process.kill()
        isDone = process.lines.contains("done")
      }
      #expect(isDone && rounds > 1, "\(rounds) rounds")
      let model = try Model("Carry", entities: [Entry.self, CarriedOver.self])
      let container = StrategyKind.direct.container(model, named: "Carry")
      let store = try container.attachPersistentStore(at: folder)
      let found = try container.newBackgroundContext().fetch(FetchDescriptor<Entry>())
      #expect(found == (0..<2000).map { Entry(id: $0, text: "\($0)") })
      try container.detach(persistentStore: store)
    }
  }
#endif
