#if Persistence
  import ConcordModel
  import ConcordTestShared
  import Foundation
  import GRDB
  import Testing

  @testable import ConcordPersistence

  /// As an essay, of a model without searches.
  private struct PlainEssay: PersistentEntity {
    let id: Int
    var title: String
    var text: String?
    var year: Int

    static let entityName = "Essay"
    static let persistentProperties: [PersistentProperty<PlainEssay>] = [
      .init("id", \.id), .init("title", \.title), .init("text", \.text), .init("year", \.year),
    ]

    init(from row: inout RowReader) throws {
      id = try row.read()
      title = try row.read()
      text = try row.read()
      year = try row.read()
    }

    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(title)
      try row.write(text)
      try row.write(year)
    }
  }

  /// With a further column, and a search in another one.
  private struct LaterEssay: PersistentEntity {
    let id: Int
    var title: String
    var text: String?
    var year: Int
    var note: String?

    static let entityName = "Essay"
    static let persistentProperties: [PersistentProperty<LaterEssay>] = [
      .init("id", \.id), .init("title", \.title, .searchable), .init("text", \.text), .init("year", \.year),
      .init("note", \.note, .searchable),
    ]

    init(from row: inout RowReader) throws {
      id = try row.read()
      title = try row.read()
      text = try row.read()
      year = try row.read()
      note = try row.read()
    }

    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(title)
      try row.write(text)
      try row.write(year)
      try row.write(note)
    }
  }

  /// With names and a key that have to be quoted.
  private struct Quoted: PersistentEntity, Equatable {
    let id: String
    var text: String

    static let entityName = "a\"b'c.d"
    static let persistentProperties: [PersistentProperty<Quoted>] = [
      .init("id", \.id), .init("t\"e'x", \.text, .searchable),
    ]

    init(_ id: String, _ text: String) { (self.id, self.text) = (id, text) }
    init(from row: inout RowReader) throws { (id, text) = (try row.read(), try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(text)
    }
  }

  @Suite("The index of words in a file")
  struct SQLiteSearchIndexTests {
    private func withStore<R>(
      _ model: Model? = nil, at folder: URL, _ body: (SQLiteStore, BackgroundContext) throws -> R
    ) throws -> R {
      let model = try model ?? essayModel()
      let store = try SQLiteStore(url: folder.appending(path: "test.sqlite"), entities: model.entities)
      defer { try? store.close() }
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.attach(store, configuration: "")
      return try body(store, BackgroundContext(parent: coordinator))
    }

    private func plain<R>(_ folder: URL, _ body: (Database) throws -> R) throws -> R {
      let queue = try DatabaseQueue(path: folder.appending(path: "test.sqlite").path)
      defer { try? queue.close() }
      return try queue.write(body)
    }

    private func ids(_ query: SearchQuery, _ context: BackgroundContext) throws -> [Int] {
      try context.fetch(FetchDescriptor<Essay>(search: query)).map(\.id)
    }

    private func scans(_ query: SearchQuery, _ context: BackgroundContext) throws -> Bool {
      try context.explain(FetchDescriptor<Essay>(search: query)).scans
    }

    /// Whether the index has exactly what the rows have.
    private func expectWhole(_ folder: URL, noted: Int = 0) throws {
      try plain(folder) { db in
        try db.execute(
          sql: "INSERT INTO \"concord_fts.Essay\" (\"concord_fts.Essay\", rank) VALUES ('integrity-check', 1)")
        #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM \"concord_noted.Essay\"") == noted)
        let words = try Row.fetchAll(db, sql: "SELECT \"key\", w0, w1 FROM \"concord_words.Essay\" ORDER BY \"key\"")
        let rows = try Row.fetchAll(
          db, sql: "SELECT id, CAST(title AS BLOB), CAST(text AS BLOB) FROM Essay ORDER BY id")
        guard noted == 0 else { return }
        #expect(words.map { $0[0] as Int } == rows.map { $0[0] as Int })
        // As bytes: GRDB ends a text at a zero byte.
        func text(_ row: Row, _ index: Int) -> String { String(decoding: row[index] as Data? ?? Data(), as: UTF8.self) }
        for (words, row) in zip(words, rows) {
          #expect(words[1] as String == FoldedText(text(row, 1)).indexedWords)
          #expect(words[2] as String == FoldedText(text(row, 2)).indexedWords)
        }
      }
    }

    @Test("A search reads what the index finds, and tells so")
    func explain() throws {
      try withFolder { folder in
        try withStore(at: folder) { _, context in
          for id in 0..<100 { context.insert(Essay(id, "Number \(id)", "word\(id)")) }
          try context.save()
          let search = FetchDescriptor<Essay>(search: "word7", fetchLimit: 5)
          let explanation = try context.explain(search)
          #expect(!explanation.scans, "\(explanation)")
          #expect(explanation.plan.accesses.contains(TableAccess(table: "Essay", .search(index: "concord_fts.Essay"))))
          #expect(try ids("word7*", context) == [7] + Array(70..<80))
          // What is only excluded, no index finds.
          #expect(try scans("-word7", context) == true)
          #expect(try ids("-word7*", context).count == 89)
        }
        try expectWhole(folder)
      }
    }

    @Test("What other programs write is found at once, and is in the index after the next write")
    func others() throws {
      try withFolder { folder in
        try withStore(at: folder) { _, context in
          for id in 0..<10 { context.insert(Essay(id, "Number \(id)", "old")) }
          try context.save()
          try plain(folder) { db in
            try db.execute(sql: "UPDATE Essay SET text = 'Éclair' WHERE id = 3")
            try db.execute(sql: "DELETE FROM Essay WHERE id = 4")
            try db.execute(sql: "UPDATE Essay SET id = 50 WHERE id = 5")
            try db.execute(sql: "INSERT OR REPLACE INTO Essay VALUES (6, 'replaced', NULL, 0, 0)")
            try db.execute(sql: "INSERT OR FAIL INTO Essay VALUES (60, 'new', 'eclair', 0, 0)")
            try db.execute(sql: "UPDATE OR FAIL Essay SET title = 'newer' WHERE id = 60")
          }
          func check() throws {
            #expect(try ids("eclair", context) == [3, 60])
            #expect(try ids("old", context) == [0, 1, 2, 7, 8, 9, 50])
            #expect(try ids("newer OR replaced", context) == [6, 60])
          }
          try check()
          try expectWhole(folder, noted: 6)
          context.insert(Essay(100, "own"))
          try context.save()
          try check()
          try expectWhole(folder)
        }
      }
    }

    @Test(
      "A row is noted without a look at what else is noted",
      arguments: ["INSERT INTO Essay VALUES (1, '', '', 0, 0)", "DELETE FROM Essay WHERE id = 1"])
    func noting(_ sql: String) throws {
      try withFolder { folder in
        try withStore(at: folder) { _, _ in }
        #expect(try plain(folder) { try notingScans(sql, $0) } == false)
      }
    }

    /// Whether a statement goes from row to row in the table of notes.
    private func notingScans(_ sql: String, _ db: Database) throws -> Bool? {
      let notes = try Int.fetchOne(db, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'concord_noted.Essay'")
      var cursors: Set<Int> = []
      var begun: Set<Int> = []
      for step in try Row.fetchAll(db, sql: "EXPLAIN \(sql)") {
        let opcode: String = step["opcode"]
        let cursor: Int = step["p1"]
        let page: Int? = step["p2"]
        if opcode.hasPrefix("Open"), page == notes { cursors.insert(cursor) }
        if opcode == "Rewind" { begun.insert(cursor) }
      }
      return cursors.isEmpty ? nil : !cursors.isDisjoint(with: begun)
    }

    @Test("Random writes of this program and of others keep the index right")
    func random() throws {
      let seed = TestOptions.seed(1)
      var random = SeededGenerator(seed: seed)
      try withFolder { folder in
        for round in 0..<(TestOptions.isLong ? 40 : 3) {
          try withStore(at: folder) { _, context in
            for step in 0..<6 {
              for _ in 0..<8 {
                let id = Int.random(in: 0..<30, using: &random)
                if Bool.random(using: &random) {
                  try context.delete(Essay.self, id: id)
                } else {
                  context.insert(Essay(id, SearchWords.text(&random), SearchWords.text(&random)))
                }
              }
              try context.save()
              if step % 2 == 0 { try expectWhole(folder) }
              try plain(folder) { db in
                for _ in 0..<4 {
                  let arguments: StatementArguments = [
                    Int.random(in: 0..<30, using: &random), SearchWords.text(&random), SearchWords.text(&random),
                    Int.random(in: 0..<30, using: &random),
                  ]
                  let sql = [
                    "INSERT OR REPLACE INTO Essay SELECT ?1, ?2, ?3, ?4, 0",
                    "UPDATE Essay SET text = ?2 || ?3 WHERE id IN (?1, ?4)",
                    "DELETE FROM Essay WHERE id = ?1 OR title = ?2 || ?3 || ?4",
                    "UPDATE OR REPLACE Essay SET id = ?1, title = ?2 || ?3 WHERE id = ?4",
                  ].randomElement(using: &random)
                  try db.execute(sql: sql ?? "", arguments: arguments)
                }
              }
              let all = try context.fetch(FetchDescriptor<Essay>())
              for _ in 0..<10 {
                let query = SearchQuery(NaiveSearch.random(2, &random).text(&random))
                let found = try ids(query, context)
                let expected = all.filter { query.matches([$0.title, $0.text]) }.map(\.id)
                let comment: Comment = "CONCORD_RANDOM_SEED=\(seed), round \(round), step \(step), \(query.text)"
                #expect(found.sorted() == expected, comment)
                let best = try context.fetch(FetchDescriptor<Essay>(search: query, fetchLimit: 3, fetchOffset: 2))
                #expect(best.map(\.id) == Array(found.dropFirst(2).prefix(3)), comment)
              }
            }
          }
        }
      }
    }

    @Test("An index comes and goes with the model, and with the columns that it has")
    func migration() throws {
      func tables(_ folder: URL) throws -> Int {
        try plain(folder) {
          try Int.fetchOne(
            $0, sql: "SELECT COUNT(*) FROM sqlite_master WHERE name LIKE 'concord@_%.Essay%' ESCAPE '@'") ?? 0
        }
      }
      try withFolder { folder in
        let without = try Model("Essays", entities: [PlainEssay.self])
        try withStore(without, at: folder) { _, _ in }
        try plain(folder) { try $0.execute(sql: "INSERT INTO Essay VALUES (1, 'Red pony', 'text', 0, 0)") }
        #expect(try tables(folder) == 0)
        #expect(try withStore(at: folder) { _, context in try ids("pony", context) } == [1])
        try expectWhole(folder)
        let count = try tables(folder)
        #expect(count > 0)
        // Opened once more, it stays as it is.
        #expect(try withStore(at: folder) { _, context in try ids("pony text", context) } == [1])
        #expect(try tables(folder) == count)
        try withStore(without, at: folder) { _, _ in }
        #expect(try tables(folder) == 0)
        try withStore(at: folder) { _, _ in }
        try withStore(try Model("Essays", entities: [LaterEssay.self]), at: folder) { _, context in
          func ids(_ query: SearchQuery) throws -> [Int] {
            try context.fetch(FetchDescriptor<LaterEssay>(search: query)).map(\.id)
          }
          #expect(try ids("pony") == [1])
          #expect(try ids("text") == [])
          try context.update(LaterEssay.self, id: 1) { $0.note = "remark" }
          try context.save()
          #expect(try ids("remark pony") == [1])
          let explanation = try context.explain(FetchDescriptor<LaterEssay>(search: "pony"))
          #expect(!explanation.scans)
        }
      }
    }

    @Test("An index of another form is not used, and made anew when the file is opened")
    func otherForm() throws {
      try withFolder { folder in
        try withStore(at: folder) { _, context in
          context.insert(Essay(1, "pony"))
          try context.save()
          try plain(folder) { try $0.execute(sql: "UPDATE concord_search SET form = 'other'") }
          context.insert(Essay(2, "a pony"))
          try context.save()
          #expect(try scans("pony", context) == true)
          #expect(try ids("pony", context).sorted() == [1, 2])
        }
        try withStore(at: folder) { _, context in
          let isScanned = try scans("pony", context)
          #expect(!isScanned)
          #expect(try ids("pony", context).sorted() == [1, 2])
        }
        try expectWhole(folder)
      }
    }

    @Test("Names and keys may have any characters, and words any length")
    func quoting() throws {
      try withFolder { folder in
        try withStore(try Model("Quoted", entities: [Quoted.self]), at: folder) { _, context in
          let long = String(repeating: "ä", count: 1_500)
          let all = [Quoted("'\"\0", "a pony"), Quoted("", long + "x"), Quoted("\u{E9}", long + "y")]
          for value in all { context.insert(value) }
          try context.save()
          func find(_ query: String) throws -> [Quoted] {
            try context.fetch(FetchDescriptor<Quoted>(search: SearchQuery(query)))
          }
          #expect(try find("pony") == [all[0]])
          #expect(try find(long + "y") == [all[2]])
          #expect(try find(long + "*").count == 2)
          #expect(try find(long) == [])
          let explanation = try context.explain(FetchDescriptor<Quoted>(search: "pony"))
          #expect(!explanation.scans)
        }
      }
    }
  }
#endif
