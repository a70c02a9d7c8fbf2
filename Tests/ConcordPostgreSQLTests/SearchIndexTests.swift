#if PostgreSQL
  import Concord
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

  @Suite("The index of words in a database", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct SearchIndexTests {
    @Test("A search reads what the index finds, and tells so; without the index it finds the same")
    func explain() throws {
      let fleet = try SearchFleet()
      let store = try fleet.store()
      defer { try? store.close() }
      let context = try store.context(fleet.model)
      for id in 0..<4_000 { context.insert(Note(id, "Number \(id)", id % 2 == 0 ? "word\(id)" : "Émile x\(id % 7)")) }
      try context.save()
      // As the server does by itself after a while: until then, new words wait in a list beside the index, which is scanned.
      for table in ["Note", "concord_words.Note"] {
        try fleet.server.sql("VACUUM ANALYZE \(identifier(fleet.schema)).\(identifier(table))")
      }
      let search = FetchDescriptor<Note>(search: "word1000", fetchLimit: 5)
      let explanation = try context.explain(search)
      #expect(!explanation.scans, "\(explanation)")
      let access = TableAccess(table: "concord_words.Note", .search(index: "concord_index.Note"))
      #expect(explanation.plan.accesses.contains(access), "\(explanation)")
      // What is only excluded, no index finds.
      #expect(try !context.usesWords("-word1000"))
      let queries: [SearchQuery] = [
        "word100*", "emile x3", "\"x3 emile\"", "number -word* x2", "(word10 OR word12) number", "\"number 12\"*",
        "-emile",
      ]
      let found = try queries.map { try context.fetch(FetchDescriptor<Note>(search: $0)) }
      #expect(found.map(\.count) == [6, 286, 0, 286, 2, 111, 2_000])
      try fleet.sql("REVOKE ALL ON \"concord_words.Note\" FROM \(PostgreSQLServer.role)")
      // The first one that is refused looks again at what there is.
      #expect(try queries.map { try context.fetch(FetchDescriptor<Note>(search: $0)) } == found)
      #expect(try !context.usesWords("word1000"))
    }

    @Test("One row is saved with its words in one round trip; of an older one neither is written")
    func oneTrip() throws {
      let fleet = try SearchFleet()
      let store = try fleet.store()
      defer { try? store.close() }
      let context = try store.context(fleet.model)
      context.insert(Note(1, "First", "pony"))
      try context.save()
      for (id, text) in [(2, "New"), (1, "Replaced"), (3, String(repeating: "longer ", count: 20_000))] {
        context.insert(Note(id, text, "horse"))
        #expect(try store.trips { try context.save() } == 1, "\(id)")
      }
      try fleet.expectWhole(noted: 0)
      context.insert(Note(1, "Older", "donkey"), modifiedAt: 1)
      try context.save()
      #expect(try context.fetch(FetchDescriptor<Note>(search: "donkey")) == [])
      #expect(try context.fetch(FetchDescriptor<Note>(search: "replaced")).map(\.id) == [1])
      try fleet.expectWhole(noted: 0)
    }

    @Test("What is saved has its words when it is committed, and nothing is noted")
    func ownWrites() throws {
      let fleet = try SearchFleet()
      let store = try fleet.store()
      defer { try? store.close() }
      let context = try store.context(fleet.model)
      for id in 0..<10 { context.insert(Note(id, "Red \(id)", "pony")) }
      try context.save()
      try fleet.expectWhole(noted: 0)
      // One alone; one that replaces; some columns; whole rows; none of the texts.
      context.insert(Note(20, "alone"))
      try context.save()
      context.insert(Note(3, "Replaced", nil))
      try context.save()
      try context.update(Note.self, id: 4) { $0.text = "Éclair" }
      try context.update(Note.self, id: 5) { $0.year = 7 }
      try context.delete(Note.self, id: 6)
      try context.save()
      let entity = try fleet.model.entity(Note.self)
      func key(_ id: Int) -> EntityKey { EntityKey(entity, .integer(Int64(id))) }
      try store.write(origin: nil) { writing in
        try writing.delete(key(7))
        _ = try writing.insert(entity.row(of: Note(7, "again"), stamp: 1e12), for: key(7))
        _ = try writing.insert(entity.row(of: Note(8, "kept not"), stamp: 1e12), for: key(8))
        _ = try writing.insertMissing([(key(30), entity.row(of: Note(30, "missing"), stamp: 1))])
        _ = try writing.insert(entity.row(of: Note(31, "gone"), stamp: 1), for: key(31))
        try writing.delete(key(31))
        // Of the other columns the values are not the row's.
        var changed = ColumnSet()
        changed.insert(1)
        let values = try entity.row(of: Note(1, "Merged", "ignored"), stamp: 0).values
        try writing.update(key(1), changed, of: values[...], stamp: 1e12)
        changed.insert(2)
        try writing.update(key(2), changed, of: try entity.row(of: Note(2, "also"), stamp: 0).values[...], stamp: 1e12)
      }
      try fleet.expectWhole(noted: 0)
      #expect(try context.ids("pony") == [0, 1, 5, 8, 9])
      #expect(
        try context.ids("merged OR also OR alone OR replaced OR eclair OR again OR missing") == [1, 2, 3, 4, 7, 20, 30])
      #expect(try context.ids("gone OR kept OR ignored") == [])
    }

    @Test("A transaction finds what it has written itself")
    func ownReads() throws {
      let fleet = try SearchFleet()
      let store = try fleet.store()
      defer { try? store.close() }
      let entity = try fleet.model.entity(Note.self)
      try store.write(origin: nil) { writing in
        for id in 0..<5 {
          _ = try writing.insert(
            entity.row(of: Note(id, "pony \(id)"), stamp: 1), for: EntityKey(entity, .integer(Int64(id))))
        }
        let query = RowQuery(entity, where: .matches("pony", in: entity.searchablePositions))
        #expect(try writing.count(query) == 5)
      }
    }

    @Test("What other programs write is found at once, and is in the index after a search")
    func others() throws {
      let fleet = try SearchFleet()
      let store = try fleet.store()
      defer { try? store.close() }
      let context = try store.context(fleet.model)
      for id in 0..<10 { context.insert(Note(id, "Number \(id)", "old")) }
      try context.save()
      try fleet.sql(
        """
        UPDATE "Note" SET text = 'Éclair' WHERE id = 3;
        UPDATE "Note" SET year = 1 WHERE id = 2;
        DELETE FROM "Note" WHERE id = 4;
        UPDATE "Note" SET id = 50 WHERE id = 5;
        INSERT INTO "Note" VALUES (6, 'replaced', NULL, 0, 0) ON CONFLICT (id) DO UPDATE SET title = 'replaced', text = NULL;
        INSERT INTO "Note" VALUES (60, 'newer', 'eclair', 0, 0);
        MERGE INTO "Note" USING (VALUES (7), (70)) AS v(k) ON id = k WHEN MATCHED THEN UPDATE SET title = 'merged'
          WHEN NOT MATCHED THEN INSERT VALUES (k, 'merged', NULL, 0, 0);
        """)
      func check(_ context: BackgroundContext) throws {
        #expect(try context.ids("eclair") == [3, 60])
        #expect(try context.ids("old") == [0, 1, 2, 7, 8, 9, 50])
        #expect(try context.ids("newer OR replaced OR merged") == [6, 7, 60, 70])
      }
      // Not the one whose texts are as they were.
      #expect(try fleet.noted() == 6)
      try check(context)
      #expect(try fleet.noted() == 6)
      let another = try fleet.store(interval: 0)
      defer { try? another.close() }
      // It has folded them when it was attached.
      try fleet.expectWhole(noted: 0)
      try fleet.sql("UPDATE \"Note\" SET title = title || ' more'")
      #expect(try fleet.noted() == 11)
      let told = Locked(0)
      let observation = another.observeCommits { _ in told.withLock { $0 += 1 } }
      another.settle()
      let before = told.withLock { $0 }
      #expect(try another.context(fleet.model).ids("more").count == 11)
      #expect(try eventually { try fleet.noted() == 0 })
      try fleet.expectWhole()
      try check(context)
      another.settle()
      // Folding is no change of a row.
      #expect(told.withLock { $0 } == before)
      try fleet.sql("TRUNCATE \"Note\"")
      try fleet.expectWhole(noted: 0)
      #expect(try context.ids("more") == [])
      withExtendedLifetime(observation) {}
    }

    @Test("Who changes rows beside a folding is noted")
    func besideFolding() throws {
      let fleet = try SearchFleet()
      let stores = try (0..<2).map { _ in try fleet.store() }
      defer { for store in stores { try? store.close() } }
      try fleet.sql("INSERT INTO \"Note\" SELECT i, 'number ' || i, NULL, 0, 0 FROM generate_series(0, 99) AS i")
      let isOver = Locked(false)
      let failures = Locked<[String]>([])
      let rounds = TestOptions.isLong ? 400 : 40
      @Sendable func work(_ number: Int) {
        do {
          switch number {
          case 0, 1:
            while !isOver.withLock({ $0 }) {
              do { try stores[number].searchIndexes.foldAll() } catch let failure as PostgreSQLFailure
                where failure.isConflict
              {}
            }
          case 2:
            let context = try stores[0].context(fleet.model)
            for round in 0..<rounds {
              for id in stride(from: round % 10, to: 110, by: 10) { context.insert(Note(id, "own \(round)", "\(id)")) }
              if round % 3 == 0 { try context.delete(Note.self, id: round) }
              try context.save()
            }
          default:
            for round in 0..<rounds {
              let statements =
                "UPDATE \"Note\" SET title = 'other \(round)' WHERE id % 7 = \(round % 7); DELETE FROM \"Note\" WHERE id = \(round * 3);"
              // Two writers that lock rows in different orders may meet; who is told so does it again, as any program would.
              while true {
                do {
                  try fleet.sql(statements)
                  break
                } catch  where ["could not serialize", "deadlock detected"].contains(where: "\(error)".contains) {}
              }
            }
            isOver.withLock { $0 = true }
          }
        } catch {
          isOver.withLock { $0 = true }
          failures.withLock { $0.append("\(error)") }
        }
      }
      // Threads, since the folding ones go on until the others are done.
      let group = DispatchGroup()
      for number in 0..<4 {
        group.enter()
        Thread.detachNewThread {
          work(number)
          group.leave()
        }
      }
      group.wait()
      #expect(failures.withLock { $0 } == [])
      try fleet.expectWhole()
    }

    @Test("A folding that has read a text notes what was committed just then")
    func textBehindLock() throws {
      let fleet = try SearchFleet()
      let store = try fleet.store()
      defer { try? store.close() }
      let index = try #require(fleet.index)
      try fleet.sql("INSERT INTO \"Note\" VALUES (1, 'first', NULL, 0, 0), (2, 'first', NULL, 0, 0)")
      try store.pool.with { writer in
        // Who has changed a row and not committed is left out, and noted still.
        try writer.run([.once("BEGIN"), .once("UPDATE \"Note\" SET title = 'second' WHERE id = 1")])
        try store.pool.with(isNested: true) { _ in try store.searchIndexes.foldAll() }
        #expect(try fleet.noted() == 1)
        try writer.run([.once("COMMIT")])
      }
      let row = "SELECT \(index.column)::text FROM \(index.table) WHERE \"key\" = 1"
      #expect(try fleet.sql(row) == "")
      try store.searchIndexes.foldAll()
      #expect(try fleet.sql(row) == "'second'")
      try fleet.expectWhole(noted: 0)
    }

    @Test("Transactions that save neighbouring rows do not meet in the index")
    func neighbours() throws {
      let fleet = try SearchFleet()
      let stores = try (0..<2).map { _ in try fleet.store() }
      defer { for store in stores { try? store.close() } }
      let entity = try fleet.model.entity(Note.self)
      func insert(_ id: Int, _ writing: any RowWriting) throws {
        let key = EntityKey(entity, .integer(Int64(id)))
        #expect(try writing.insertNewest([(key, entity.row(of: Note(id, "same words"), stamp: 1))]) == [true])
      }
      for round in 0..<20 {
        try stores[0].write(origin: nil) { writing in
          try insert(2 * round, writing)
          try stores[1].write(origin: nil) { try insert(2 * round + 1, $0) }
        }
      }
      #expect(stores.map { $0.repeatedWrites.withLock { $0 } } == [0, 0])
      try fleet.expectWhole(noted: 0)
    }

    @Test(
      "Writes that search in one index at a time conflict, so that one runs again; a reading that searches disturbs nobody"
    )
    func conflicts() throws {
      let fleet = try SearchFleet()
      let stores = try (0..<2).map { _ in try fleet.store() }
      defer { for store in stores { try? store.close() } }
      let entity = try fleet.model.entity(Note.self)
      let context = try stores[0].context(fleet.model)
      for id in 0..<3_000 { context.insert(Note(id, "word\(id)")) }
      try context.save()
      for table in ["Note", "concord_words.Note"] {
        try fleet.server.sql("VACUUM ANALYZE \(identifier(fleet.schema)).\(identifier(table))")
      }
      func count(_ word: String, _ reading: any RowReading) throws -> Int {
        try reading.count(RowQuery(entity, where: .matches(SearchQuery(word), in: entity.searchablePositions)))
      }
      func insert(_ id: Int, _ writing: any RowWriting) throws {
        _ = try writing.insert(
          entity.row(of: Note(id, "word\(id)"), stamp: 1), for: EntityKey(entity, .integer(Int64(id))))
      }
      func repeated() -> [Int] { stores.map { $0.repeatedWrites.withLock { $0 } } }
      let isFirst = Locked(true)
      try stores[0].write(origin: nil) { writing in
        #expect(try count("word10", writing) == 1)
        let isFirst = isFirst.withLock { isFirst in
          defer { isFirst = false }
          return isFirst
        }
        if isFirst {
          try stores[1].write(origin: nil) { other in
            #expect(try count("word20", other) == 1)
            try insert(5_001, other)
          }
        }
        try insert(5_000, writing)
      }
      #expect(repeated() == [1, 0])
      try stores[0].read { reading in
        #expect(try count("word30", reading) == 1)
        try stores[1].write(origin: nil) { other in
          #expect(try count("word40", other) == 1)
          try insert(6_000, other)
        }
        #expect(try count("word6000", reading) == 0)
      }
      #expect(repeated() == [1, 0])
      #expect(try context.ids("word5000 OR word5001 OR word6000") == [5_000, 5_001, 6_000])
    }

    @Test("A row that is written has its words written once")
    func writtenOnce() throws {
      let fleet = try SearchFleet()
      let store = try fleet.store()
      defer { try? store.close() }
      let context = try store.context(fleet.model)
      // Each version of a row has a place of its own.
      func places() throws -> String {
        try fleet.sql("SELECT string_agg(ctid::text, ' ' ORDER BY \"key\") FROM \"concord_words.Note\"")
      }
      for id in 1...3 { context.insert(Note(id, "pony \(id)")) }
      try context.save()
      #expect(try places() == "(0,1) (0,2) (0,3)")
      context.insert(Note(4, "alone"))
      try context.save()
      context.insert(Note(2, "other"))
      try context.save()
      try context.update(Note.self, id: 3) { $0.text = "more" }
      try context.save()
      // Neither are words written that are as they were.
      try context.update(Note.self, id: 1) { $0.title = "Pony 1" }
      try context.save()
      #expect(try places() == "(0,1) (0,5) (0,6) (0,4)")
    }

    @Test("Random writes of several stores and of others keep the index right")
    func random() throws {
      let seed = TestOptions.seed(1)
      var random = SeededNumbers(seed: seed)
      let words = [
        "red", "RED", "pony", "Émile", "emile", "Straße", "検索", "索", "\u{0}", "a\u{1}b", "🎉", "'", "\\", "x:*", "ﬁ",
        "o'neil",
        "한글", "E\u{301}", String(repeating: "ä", count: 80), String(repeating: "ä", count: 80) + "b",
      ]
      func text() -> String {
        (0..<Int.random(in: 0...4, using: &random)).map { _ in words.randomElement(using: &random) ?? "" }.joined(
          separator: " ")
      }
      let fleet = try SearchFleet()
      let stores = try (0..<2).map { _ in try fleet.store() }
      defer { for store in stores { try? store.close() } }
      let contexts = try stores.map { try $0.context(fleet.model) }
      for round in 0..<(TestOptions.isLong ? 200 : 12) {
        let context = contexts[round % 2]
        for _ in 0..<6 {
          let id = Int.random(in: 0..<25, using: &random)
          switch Int.random(in: 0..<4, using: &random) {
          case 0: try context.delete(Note.self, id: id)
          case 1: try context.update(Note.self, id: id) { $0.title = "\(words[round % words.count])" }
          default: context.insert(Note(id, text(), Bool.random(using: &random) ? text() : nil, year: round))
          }
        }
        try context.save()
        func quoted(_ text: String) -> String { literal(text.replacing("\u{0}", with: "")) }
        let id = Int.random(in: 0..<25, using: &random)
        try fleet.sql(
          [
            "DELETE FROM \"Note\" WHERE id = \(id)",
            "UPDATE \"Note\" SET text = \(quoted(text())) WHERE id % 3 = \(id % 3)",
            "UPDATE \"Note\" SET id = \(id) + 25 WHERE id = \(id) AND NOT EXISTS (SELECT FROM \"Note\" WHERE id = \(id) + 25)",
            "INSERT INTO \"Note\" VALUES (\(id), \(quoted(text())), NULL, 0, 0) ON CONFLICT (id) DO UPDATE SET title = excluded.title",
          ][Int.random(in: 0..<4, using: &random)])
        if round % 4 == 3 { try stores[0].searchIndexes.foldAll() }
        let all = try context.fetch(FetchDescriptor<Note>())
        for _ in 0..<8 {
          let word = words.randomElement(using: &random) ?? ""
          let query = SearchQuery(
            ["\(word)*", "\"\(text())\"", "\(text()) -\(word)", "\(word) OR \(text())"].randomElement(using: &random)
              ?? "")
          let expected = all.filter { query.matches([$0.title, $0.text]) }.map(\.id).sorted()
          #expect(
            try context.ids(query) == expected,
            "CONCORD_RANDOM_SEED=\(seed), round \(round), \(query.text.debugDescription)")
        }
        try fleet.expectWhole("CONCORD_RANDOM_SEED=\(seed), round \(round)")
      }
    }
  }
#endif
