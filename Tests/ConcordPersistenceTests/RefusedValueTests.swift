#if Persistence
  import Concord
  import Foundation
  import GRDB
  import Testing

  @testable import ConcordPersistence

  @Suite("Values that a file refuses")
  struct RefusedValueTests {
    @Test("What a trigger refuses is given up by the root, and holds up nothing that comes after it")
    func refusedByTrigger() async throws {
      let reports = Locked<[BackgroundSaveError]>([])
      try await StrategyKind.mixed.withContainer(.sqlite) { error in
        if let error = error as? BackgroundSaveError { reports.withLock { $0.append(error) } }
      } _: { container in
        let sqlite = try #require(container.persistentStores.first?.rows as? SQLiteStore)
        try await sqlite.pool.write { db in
          try db.execute(
            sql: """
              CREATE TRIGGER picky BEFORE INSERT ON Review WHEN NEW.text = 'bad' BEGIN SELECT RAISE(ABORT, 'no bad ones'); END
              """)
        }
        let view = container.viewContext
        view.insert(Review(id: 1, text: "bad"))
        try view.save()
        view.insert(Review(id: 2, text: "good"))
        try view.save()
        try await container.flush()
        #expect(try container.stored(Review.self, id: 2)?.text == "good")
        #expect(try view.find(Review.self, id: 1) == nil)
        #expect(try await eventually { reports.withLock { !$0.isEmpty } })
        let report = try #require(reports.withLock { $0.first })
        #expect("\(report.error)" == "the store 'Library.sqlite' refuses a value: no bad ones")
        #expect(!report.isPending && report.changes.count == 1)
      }
    }

    @Test("A value that is too large is refused, and given up")
    func tooLarge() throws {
      try withFolder { folder in
        let store = try SQLiteStore(url: folder.appending(path: "a.sqlite"), entities: try libraryModel().entities)
        defer { try? store.close() }
        // As SQLite says it of a gigabyte.
        #expect(
          reason {
            try store.read { _ in throw SQLiteFailure(code: 18, message: "string or blob too big") }
          } == "the store 'a.sqlite' refuses a value: string or blob too big")
      }
    }
  }

  @Suite("Statements of updates")
  struct UpdateStatementTests {
    @Test("Updates of however many forms keep few statements")
    func fewStatements() throws {
      let description = EntityDescription(Everything.self)
      let table = SQLiteTable(description)
      var random = SeededGenerator(seed: 1)
      let base = StoredRow(
        values: description.columns.map { _ in .integer(0) }, collections: [], stamp: 0)
      var known: Set<String> = []
      for _ in 0..<2000 {
        var row = base
        for position in row.values.indices where position != description.idPosition {
          row.values[position] = .integer(.random(in: 0...1, using: &random))
        }
        guard let positions = SQLiteTable.Positions(changedFrom: base, to: row, in: description) else { continue }
        known.insert(table.replaceIfSame(positions).sql)
      }
      #expect((2...200).contains(known.count))
    }
  }
#endif
