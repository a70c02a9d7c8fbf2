#if PostgreSQL
  import Concord
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

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

  /// With a key that is a number with a fraction.
  private struct Measured: PersistentEntity, Equatable {
    let id: Double
    var text: String

    static let persistentProperties: [PersistentProperty<Measured>] = [
      .init("id", \.id), .init("text", \.text, .searchable),
    ]

    init(_ id: Double, _ text: String) { (self.id, self.text) = (id, text) }
    init(from row: inout RowReader) throws { (id, text) = (try row.read(), try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(text)
    }
  }

  /// A note whose title has another name, and that has a column more.
  private struct RenamedNote: PersistentEntity, Equatable {
    static let entityName = "Note"
    let id: Int
    var heading: String
    var text: String?
    var year: Int
    var remark: String

    static let persistentProperties: [PersistentProperty<RenamedNote>] = [
      .init("id", \.id), .init("heading", \.heading, .searchable, originalName: "title"),
      .init("text", \.text, .searchable),
      .init("year", \.year), .init("remark", \.remark, .searchable, default: "noteworthy"),
    ]

    init(from row: inout RowReader) throws {
      (id, heading, text, year) = (try row.read(), try row.read(), try row.read(), try row.read())
      remark = try row.read()
    }

    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(heading)
      try row.write(text)
      try row.write(year)
      try row.write(remark)
    }
  }

  @Suite("Making the index of words in a database", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct SearchSchemaTests {
    private func tables(_ fleet: SearchFleet) throws -> String {
      try fleet.sql(
        """
        SELECT (SELECT count(*) FROM pg_tables WHERE schemaname = current_schema AND tablename LIKE 'concord@_words%' ESCAPE '@')
          || ' ' || (SELECT count(*) FROM pg_trigger WHERE tgname LIKE 'concord@_words%' ESCAPE '@'
            AND tgrelid = '"Note"'::regclass)
          || ' ' || (SELECT count(*) FROM pg_proc WHERE pronamespace = quote_ident(current_schema)::regnamespace
            AND proname LIKE 'concord@_words%' ESCAPE '@')
        """)
    }

    @Test("The index comes and goes with the model; a program of the other model goes on meanwhile")
    func comesAndGoes() throws {
      let fleet = try SearchFleet()
      let plain = try Model("Notes", entities: [PlainNote.self])
      try fleet.store(plain).close()
      try fleet.sql("INSERT INTO \"Note\" VALUES (1, 'Red pony', 'text', 0, 0)")
      #expect(try tables(fleet) == "0 0 0")
      let store = try fleet.store()
      defer { try? store.close() }
      let context = try store.context(fleet.model)
      #expect(try context.ids("pony") == [1])
      #expect(try tables(fleet) == "1 4 1")
      try fleet.expectWhole(noted: 0)
      // Attached once more, it stays as it is.
      let number = try fleet.sql(
        "SELECT '\"concord_words.Note\"'::regclass::oid || ' ' || max(xmin::text) FROM \"concord_words.Note\"")
      try fleet.store().close()
      #expect(
        try fleet.sql(
          "SELECT '\"concord_words.Note\"'::regclass::oid || ' ' || max(xmin::text) FROM \"concord_words.Note\"")
          == number)
      #expect(try context.usesWords("pony"))
      try fleet.store(plain).close()
      #expect(try tables(fleet) == "0 0 0")
      // Who has it open finds, and writes, as before.
      #expect(try context.ids("pony") == [1])
      context.insert(Note(2, "A pony"))
      try context.save()
      #expect(try context.ids("pony") == [1, 2])
      #expect(try !context.usesWords("pony"))
      try fleet.store().close()
      try fleet.expectWhole(noted: 0)
      context.insert(Note(3, "Ponies, pony"))
      try context.save()
      // It does not know that there is an index again, and is noted like any other.
      #expect(try fleet.noted() == 1)
      #expect(try context.ids("pony") == [1, 2, 3])
    }

    @Test("A write that meets a removed index is run again without it")
    func removedBeneathWrite() throws {
      let fleet = try SearchFleet()
      let store = try fleet.store()
      defer { try? store.close() }
      let context = try store.context(fleet.model)
      try fleet.store(Model("Notes", entities: [PlainNote.self])).close()
      context.insert(Note(1, "pony"))
      try context.save()
      #expect(try context.ids("pony") == [1])
    }

    @Test("A reading that cannot be done again fails once when the index is gone, and the next one reads the texts")
    func removedBeneathReading() throws {
      let fleet = try SearchFleet()
      let store = try fleet.store()
      defer { try? store.close() }
      let context = try store.context(fleet.model)
      context.insert(Note(1, "pony"))
      try context.save()
      let entity = try fleet.model.entity(Note.self)
      func count() throws -> Int {
        try store.read { reading in
          _ = try reading.row(of: EntityKey(entity, .integer(1)))
          return try reading.count(RowQuery(entity, where: .matches("pony", in: entity.searchablePositions)))
        }
      }
      #expect(try count() == 1)
      try fleet.sql("REVOKE ALL ON \"concord_words.Note\" FROM \(PostgreSQLServer.role)")
      #expect(throws: StoreError.self) { try count() }
      #expect(try count() == 1)
    }

    @Test("Another model's columns, or another version's folding, make the index anew; the rights on it stay")
    func otherForm() throws {
      let fleet = try SearchFleet()
      let store = try fleet.store()
      defer { try? store.close() }
      let context = try store.context(fleet.model)
      context.insert(Note(1, "pony", "pearl"))
      try context.save()
      try fleet.sql("GRANT SELECT ON \"concord_words.Note\" TO pg_monitor")
      let text = try fleet.store(Model("Notes", entities: [TextNote.self]))
      defer { try? text.close() }
      #expect(try fleet.sql("SELECT has_table_privilege('pg_monitor', '\"concord_words.Note\"', 'SELECT')") == "t")
      let other = try text.context(Model("Notes", entities: [TextNote.self]))
      func ids(_ query: SearchQuery) throws -> [Int] {
        try other.fetch(FetchDescriptor<TextNote>(search: query)).map(\.id).sorted()
      }
      #expect(try ids("pearl") == [1] && ids("pony") == [])
      // Each finds what it searches in, whoever writes.
      context.insert(Note(2, "a pony", "red pearl"))
      try context.save()
      #expect(try context.ids("pony") == [1, 2] && context.ids("pearl") == [1, 2])
      #expect(try ids("pearl") == [1, 2] && ids("pony") == [])
      try fleet.store().close()
      try fleet.expectWhole(noted: 0)
      // Of a newer version the index stays, and an older program reads the texts.
      let index = try #require(fleet.index)
      let newer = "concord_words 999.1 \(index.form.columns)"
      try fleet.sql("ALTER TABLE \(index.table) RENAME COLUMN \(index.column) TO \(identifier(newer))")
      let older = try fleet.store()
      defer { try? older.close() }
      let reader = try older.context(fleet.model)
      #expect(try reader.ids("pony") == [1, 2] && !reader.usesWords("pony"))
      #expect(try fleet.sql("SELECT count(*) FROM \(index.table) WHERE \(identifier(newer)) IS NOT NULL") == "2")
      // One of an older version is made anew.
      let old = "concord_words 0.9 \(index.form.columns)"
      try fleet.sql("ALTER TABLE \(index.table) RENAME COLUMN \(identifier(newer)) TO \(identifier(old))")
      try fleet.store().close()
      try fleet.expectWhole(noted: 0)
    }

    @Test("What a program that searches fewer columns changes in the others is noted")
    func fewerColumnsBeside() throws {
      let fleet = try SearchFleet()
      let texts = try Model("Notes", entities: [TextNote.self])
      let earlier = try fleet.store(texts)
      defer { try? earlier.close() }
      try fleet.sql("INSERT INTO \"Note\" VALUES (1, 'Red pony', 'text', 0, 0), (2, 'A pony', 'text', 0, 0)")
      let store = try fleet.store()
      defer { try? store.close() }
      let (context, others) = (try store.context(fleet.model), try earlier.context(texts))
      #expect(try context.ids("pony") == [1, 2])
      try fleet.expectWhole(noted: 0)
      try others.update(TextNote.self, id: 1) { $0.title = "Red heron" }
      try others.save()
      #expect(try fleet.noted() == 1)
      #expect(try context.ids("heron") == [1] && context.ids("pony") == [2])
      // What it searches itself, too.
      try others.update(TextNote.self, id: 2) { ($0.title, $0.text) = ("A crane", "bird") }
      try others.save()
      #expect(try context.ids("crane bird") == [2] && context.ids("pony") == [])
      // Whose words are those of the index folds them itself.
      try context.update(Note.self, id: 1) { $0.title = "Red stork" }
      try context.save()
      #expect(try fleet.noted() == 1 && context.ids("stork") == [1])
    }

    @Test("Columns that are renamed or added have their words in the index")
    func migratedColumns() throws {
      let fleet = try SearchFleet()
      let store = try fleet.store()
      let context = try store.context(fleet.model)
      context.insert(Note(1, "pony", "pearl"))
      try context.save()
      try store.close()
      let later = try SearchFleet(RenamedNote.self)
      var options = PostgreSQLOptions(connection: fleet.server.url, schema: fleet.schema)
      options.pollInterval = 3600
      let migrated = try PostgreSQLStore(name: "Notes", options, model: later.model, entities: later.model.entities)
      defer { try? migrated.close() }
      let reader = try migrated.context(later.model)
      func ids(_ query: SearchQuery) throws -> [Int] {
        try reader.fetch(FetchDescriptor<RenamedNote>(search: query)).map(\.id)
      }
      #expect(try ids("pony pearl noteworthy") == [1])
      try fleet.sql("UPDATE \"Note\" SET heading = 'other'")
      #expect(try ids("other") == [1] && ids("pony") == [])
    }

    @Test("A column whose values a migration makes anew is noted")
    func convertedColumn() throws {
      let fleet = try SearchFleet()
      let store = try fleet.store()
      let context = try store.context(fleet.model)
      for id in 1...3 { context.insert(Note(id, "pony", id == 2 ? "given" : nil)) }
      try context.save()
      try store.close()
      struct Required: PersistentEntity {
        static let entityName = "Note"
        let id: Int
        var title: String
        var text: String
        var year: Int
        static let persistentProperties: [PersistentProperty<Required>] = [
          .init("id", \.id), .init("title", \.title, .searchable), .init("text", \.text, .searchable, default: "empty"),
          .init("year", \.year),
        ]
        init(from row: inout RowReader) throws {
          (id, title, text, year) = (try row.read(), try row.read(), try row.read(), try row.read())
        }
        func write(to row: inout RowWriter) throws {
          try row.write(id)
          try row.write(title)
          try row.write(text)
          try row.write(year)
        }
      }
      let model = try Model("Notes", entities: [Required.self])
      let migrated = try fleet.store(model)
      defer { try? migrated.close() }
      let found = try migrated.context(model).fetch(FetchDescriptor<Required>(search: "empty"))
      #expect(found.map(\.id).sorted() == [1, 3])
    }

    // MARK: Rights

    @Test("A role without rights on the index searches without it, and what it writes is noted")
    func rights() throws {
      let fleet = try SearchFleet()
      let role = "reader-\(UUID().uuidString.prefix(8))"
      try fleet.server.sql("CREATE ROLE \(identifier(role)) LOGIN PASSWORD '\(PostgreSQLServer.password)' NOSUPERUSER")
      try fleet.server.sql("REVOKE CREATE ON DATABASE shop FROM PUBLIC")
      do {
        _ = try fleet.store(role: role)
        Issue.record("it is open")
      } catch let error as PostgreSQLRightsError {
        #expect(error.sql.contains("concord_words.Note"), "\(error.sql)")
      }
      let script = try PostgreSQLStore.sql(for: fleet.model, schema: fleet.schema, role: role)
      #expect(script.contains("GRANT SELECT, INSERT, UPDATE, DELETE ON \"concord_words.Note\" TO"), "\(script)")
      try fleet.server.sql(script)
      let store = try fleet.store(role: role)
      defer { try? store.close() }
      let context = try store.context(fleet.model)
      context.insert(Note(1, "pony"))
      try context.save()
      #expect(try fleet.noted() == 0)
      try context.delete(Note.self, id: 1)
      context.insert(Note(2, "red pony"))
      try context.save()
      try fleet.sql("UPDATE \"Note\" SET title = 'pony, red'; INSERT INTO \"Note\" VALUES (3, 'pony', NULL, 0, 0)")
      try store.searchIndexes.foldAll()
      #expect(try context.ids("pony") == [2, 3] && context.usesWords("pony"))
      #expect(try fleet.noted() == 0)
      // It may read the index only.
      try fleet.sql("REVOKE INSERT, UPDATE ON \"concord_words.Note\" FROM \(identifier(role))")
      context.insert(Note(4, "pony"))
      try context.save()
      #expect(try fleet.noted() == 1)
      #expect(try context.ids("pony") == [2, 3, 4] && context.usesWords("pony"))
      try fleet.sql("REVOKE ALL ON \"concord_words.Note\" FROM \(identifier(role))")
      #expect(try context.ids("pony") == [2, 3, 4] && !context.usesWords("pony"))
      context.insert(Note(5, "pony"))
      try context.save()
      #expect(try fleet.noted() == 2)
      let another = try fleet.store(role: role)
      defer { try? another.close() }
      #expect(try another.context(fleet.model).ids("pony") == [2, 3, 4, 5])
    }

    // MARK: Values

    @Test("Names and keys may have any characters, and words any length and number")
    func quoting() throws {
      let fleet = try SearchFleet(Quoted.self)
      let store = try fleet.store()
      defer { try? store.close() }
      let context = try store.context(fleet.model)
      let long = String(repeating: "ä", count: 1_500)
      let padding = String(repeating: "x", count: 90)
      let many = (0..<12_000).map { "w\($0)\(padding)" }.joined(separator: " ")
      let all = [Quoted("'\"\0", "a pony"), Quoted("", long + "x"), Quoted("\u{E9}", long + "y"), Quoted("many", many)]
      for value in all { context.insert(value) }
      try context.save()
      func find(_ query: String) throws -> [Quoted] {
        try context.fetch(FetchDescriptor<Quoted>(search: SearchQuery(query)))
      }
      #expect(try find("pony") == [all[0]])
      #expect(try find(long + "y") == [all[2]])
      #expect(try find(long + "*").count == 2)
      #expect(try find(long) == [])
      // What is too long for a vector is looked at by each search.
      #expect(try find("w11999\(padding)") == [all[3]])
      #expect(try find("\"w7\(padding) w8\(padding)\"") == [all[3]] && find("\"w8\(padding) w7*\"") == [])
      #expect(try fleet.noted() == 1)
      try fleet.expectWhole(noted: 1)
      let phrase = many.split(separator: " ").prefix(1_000).joined(separator: " ")
      #expect(try find("\"\(phrase)\"").count == 1)
      try fleet.sql("UPDATE \"a\"\"b'c.d\" SET \"t\"\"e'x\" = 'short' WHERE id = 'many'")
      try store.searchIndexes.foldAll()
      try fleet.expectWhole(noted: 0)
      #expect(try find("short").map(\.id) == ["many"])
    }

    @Test("Keys that are numbers have their words")
    func numbers() throws {
      let fleet = try SearchFleet(Measured.self)
      let store = try fleet.store()
      defer { try? store.close() }
      let context = try store.context(fleet.model)
      for id in [1.5, -2, .infinity, 0] { context.insert(Measured(id, "pony")) }
      try context.save()
      try fleet.expectWhole(noted: 0)
      try fleet.sql(
        "UPDATE \"Measured\" SET text = 'red ' || text; INSERT INTO \"Measured\" (id, text, _stamp) VALUES (7, 'pony', 0)"
      )
      #expect(try fleet.noted() == 5)
      #expect(try context.fetch(FetchDescriptor<Measured>(search: "pony")).count == 5)
      try store.searchIndexes.foldAll()
      try fleet.expectWhole(noted: 0)
    }
  }
#endif
