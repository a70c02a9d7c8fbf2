#if Persistence
  import ConcordModel
  import Foundation
  import GRDB
  import GRDBSQLite
  import Testing

  @testable import ConcordPersistence

  /// With essays in a table of their own.
  private struct Binder: PersistentEntity, Aggregate {
    let id: Int
    var essays: [Essay]

    static let persistentProperties: [PersistentProperty<Binder>] = [.init("id", \.id), .init("essays", \.essays)]
    init(_ id: Int, _ essays: [Essay]) { (self.id, self.essays) = (id, essays) }
    init(from row: inout RowReader) throws { (id, essays) = (try row.read(), try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(essays)
    }
  }

  @Suite("The best hits in a file")
  struct SQLiteRankingTests {
    private func withContext<R>(
      at folder: URL, named name: String = "test.sqlite", _ body: (BackgroundContext) throws -> R
    ) throws -> R {
      let model = try essayModel()
      let store = try SQLiteStore(url: folder.appending(path: name), entities: model.entities)
      defer { try? store.close() }
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.attach(store, configuration: "")
      return try body(BackgroundContext(parent: coordinator))
    }

    private func plain<R>(_ folder: URL, _ body: (Database) throws -> R) throws -> R {
      let queue = try DatabaseQueue(path: folder.appending(path: "test.sqlite").path)
      defer { try? queue.close() }
      return try queue.write(body)
    }

    private func best(
      _ query: SearchQuery, _ context: BackgroundContext, where predicate: Predicate<Essay>? = nil, _ limit: Int = 3
    ) throws -> [Int] {
      try context.fetch(FetchDescriptor<Essay>(search: query, where: predicate, fetchLimit: limit)).map(\.id)
    }

    @Test("They are found by the words beside the index, and the explanation tells so")
    func explain() throws {
      try withFolder { folder in
        try withContext(at: folder) { context in
          for id in 0..<100 { context.insert(Essay(id, "pony " + String(repeating: "x ", count: id), year: id % 2)) }
          try context.save()
          let early = #Predicate<Essay> { $0.year == 1 }
          #expect(try best("pony", context) == [0, 1, 2] && best("pony", context, where: early) == [1, 3, 5])
          context.insert(Essay(200, "pony pony"))
          try context.delete(Essay.self, id: 0)
          #expect(try best("pony", context) == [200, 1, 2])
          let explanation = try context.explain(FetchDescriptor<Essay>(search: "pony", where: early, fetchLimit: 3))
          #expect(!explanation.scans && explanation.order == .memory, "\(explanation)")
          // No statement gives the columns of rows that are not noted.
          let statements = explanation.steps.filter { $0.hasPrefix("SELECT") }
          #expect(statements.count == 2 && statements[0].hasPrefix("SELECT \"concord.words\".\"key\""), "\(statements)")
          #expect(statements.last?.contains("concord_noted.Essay") == true, "\(statements)")
          #expect(explanation.steps.last == "2 changed rows that are not saved are merged with these")
          // What no index tells is read.
          let all = try context.explain(FetchDescriptor<Essay>(search: "-pony", fetchLimit: 3))
          #expect(all.scans)
        }
      }
    }

    @Test("Rows that others write, with any bytes and words of any length, are ranked as they are")
    func others() throws {
      try withFolder { folder in
        try withContext(at: folder) { context in
          let long = String(repeating: "ж", count: 60)
          for id in 0..<20 { context.insert(Essay(id, "Number \(id) of many", "pony \(long)\(id % 2)")) }
          try context.save()
          #expect(try best(SearchQuery("\(long)1"), context) == [1, 3, 5])
          #expect(try best(SearchQuery("\(long)*"), context) == [0, 1, 2])
          #expect(try best(SearchQuery("\(long)"), context) == [])
          try plain(folder) { db in
            try db.execute(
              sql: "UPDATE Essay SET title = 'pony', text = CAST(x'706f6e79ff706f6e79' AS TEXT) WHERE id = 7")
            try db.execute(sql: "UPDATE Essay SET text = x'706f6e79' WHERE id = 0")
            try db.execute(sql: "DELETE FROM Essay WHERE id IN (1, 3)")
          }
          func check() throws {
            #expect(try best("pony", context) == [7, 2, 4])
            #expect(try best("\"pony pony\"", context) == [7])
            let all = try context.fetch(FetchDescriptor<Essay>(search: "pony")).map(\.id)
            #expect(try best("pony", context, 100) == all && all.count == 17)
          }
          try check()
          context.insert(Essay(100, "own"))
          try context.save()
          try check()
        }
      }
    }

    @Test(
      "A row that was changed without a note is not ranked by words that it no longer has, and does not take a place")
    func unnoted() throws {
      try withFolder { folder in
        try withContext(at: folder) { context in
          for id in 0..<9 { context.insert(Essay(id, "pony \(id)")) }
          try context.save()
          try plain(folder) { db in
            for event in ["update", "delete"] { try db.execute(sql: "DROP TRIGGER \"concord_search.Essay.\(event)\"") }
            try db.execute(sql: "UPDATE Essay SET title = 'other' WHERE id = 1; DELETE FROM Essay WHERE id = 2")
          }
          #expect(try best("pony", context) == [0, 3, 4])
        }
      }
    }

    @Test("The rows whose elements are hits are found by these")
    func elements() throws {
      try withFolder { folder in
        let model = try Model("Binders", entities: [Binder.self, Essay.self])
        let store = try SQLiteStore(url: folder.appending(path: "test.sqlite"), entities: model.entities)
        defer { try? store.close() }
        let coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.attach(store, configuration: "")
        let context = BackgroundContext(parent: coordinator)
        for id in 0..<50 { context.insert(Binder(id, [Essay(id, "word\(id)")])) }
        try context.save()
        let (binder, essay) = (try model.entity(Binder.self), try model.entity(Essay.self))
        let query = RowQuery(
          binder, where: .hasElement(0, essay, .matches("word7 OR word9", in: essay.searchablePositions)))
        try store.read { reading in
          var found: [StoredValue] = []
          try reading.rows(query) { key, _ in
            found.append(key)
            return true
          }
          #expect(found == [.integer(7), .integer(9)])
          let plan = try reading.plan(of: query)
          #expect(plan.accesses.contains(TableAccess(table: "Essay", .search(index: "concord_fts.Essay"))), "\(plan)")
          #expect(plan.accesses.allSatisfy { if case .search = $0.method { true } else { false } }, "\(plan)")
        }
      }
    }

    // MARK: Writing

    @Test("The words of rows that are changed together are written together")
    func written() throws {
      try withFolder { folder in
        try withContext(at: folder) { context in
          for id in 0..<300 { context.insert(Essay(id, "old \(id)")) }
          try context.save()
          let before = try plain(folder) { try Self.writtenLeaves($0) }
          for id in stride(from: 299, through: 0, by: -1) { context.insert(Essay(id, "new \(id)")) }
          try context.save()
          let written = try plain(folder) { try Self.writtenLeaves($0) } - before
          #expect(written > 0 && written < 20, "\(written) leaves")
          #expect(try best("new", context) == [0, 1, 2] && best("old", context) == [])
        }
      }
    }

    @Test("What many rows add to the index is merged at once, and not by a later save of a row")
    func merged() throws {
      try withFolder { folder in
        try withContext(at: folder) { context in
          for round in 0..<3 {
            for id in 0..<1_500 {
              context.insert(Essay(2_000 * round + id, "word\(id) other\(7 * id) pony", "some\(id * id) more\(3 * id)"))
            }
            try context.save()
          }
          // FTS5 merges all of a level in one write when it has 16 segments.
          let segments = try plain(folder) { try Self.structure($0).levels }
          #expect(segments.joined().contains { $0 > 20 } && segments[0].allSatisfy { $0 < 4 }, "\(segments)")
          #expect(try best("pony word7", context) == [7, 2_007, 4_007])
        }
      }
    }

    private static func writtenLeaves(_ db: Database) throws -> Int { try structure(db).written }

    /// The structure of the index, as FTS5 keeps it behind a cookie: the number of leaves that it has written, and by level the number of
    /// leaves of each segment.
    private static func structure(_ db: Database) throws -> (written: Int, levels: [[Int]]) {
      let data = try #require(try Data.fetchOne(db, sql: "SELECT block FROM \"concord_fts.Essay_data\" WHERE id = 10"))
      var bytes = data.dropFirst(4)
      func number() -> Int {
        var number = 0
        while let byte = bytes.popFirst() {
          number = number << 7 | Int(byte & 0x7F)
          if byte & 0x80 == 0 { break }
        }
        return number
      }
      let (levels, _, written) = (number(), number(), number())
      return (
        written,
        (0..<levels).map { _ in
          let (_, count) = (number(), number())
          return (0..<count).map { _ in
            let (_, first, last) = (number(), number(), number())
            return last - first + 1
          }
        }
      )
    }

    // MARK: Without FTS5

    @Test(
      "With an SQLite without FTS5 all texts are read, and what is written is in the index when a program with it comes"
    )
    func withoutFTS5() throws {
      // SQLite calls it for each new connection; those of other tests stay as they are.
      let leaveOut: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Int32 = {
        connection, _, _ in
        if let name = sqlite3_db_filename(connection, "main"), String(cString: name).contains("without-fts5-now") {
          sqlite3_drop_modules(connection, nil)
        }
        return SQLITE_OK
      }
      typealias Extension = @convention(c) () -> Void
      sqlite3_auto_extension(unsafeBitCast(leaveOut, to: Extension.self))
      defer { sqlite3_cancel_auto_extension(unsafeBitCast(leaveOut, to: Extension.self)) }
      try withFolder { folder in
        func move(_ old: String, _ new: String) throws {
          try FileManager.default.moveItem(at: folder.appending(path: old), to: folder.appending(path: new))
        }
        // A new file.
        try withContext(at: folder, named: "without-fts5-now-new.sqlite") { context in
          context.insert(Essay(1, "red pony"))
          try context.save()
          #expect(try best("pony", context) == [1])
          #expect(try context.explain(FetchDescriptor<Essay>(search: "pony")).scans)
        }
        // One that has an index.
        try withContext(at: folder, named: "some.sqlite") { context in
          for id in 1...3 { context.insert(Essay(id, "pony \(id)")) }
          try context.save()
        }
        try move("some.sqlite", "without-fts5-now.sqlite")
        try withContext(at: folder, named: "without-fts5-now.sqlite") { context in
          context.insert(Essay(4, "pony pony"))
          context.insert(Essay(2, "other"))
          try context.save()
          #expect(try best("pony", context) == [4, 1, 3] && best("other", context) == [2])
        }
        try move("without-fts5-now.sqlite", "some.sqlite")
        try withContext(at: folder, named: "some.sqlite") { context in
          #expect(try best("pony", context) == [4, 1, 3] && best("other", context) == [2])
          let isScanned = try context.explain(FetchDescriptor<Essay>(search: "pony")).scans
          #expect(!isScanned)
        }
      }
    }
  }
#endif
