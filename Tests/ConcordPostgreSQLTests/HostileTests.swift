#if PostgreSQL
  import Concord
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

  /// The names that the entities below have in the test that runs.
  private let names = Locked<[String]>([])
  private func name(_ index: Int) -> String { names.withLock { $0[index] } }

  private struct Part: PersistentEntity, Equatable {
    static var entityName: String { name(0) }
    let id: String
    var text: String

    static var persistentProperties: [PersistentProperty<Part>] { [.init("id", \.id), .init(name(1), \.text)] }
    init(from row: inout RowReader) throws { self.init(id: try row.read(), text: try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(text)
    }
    init(id: String, text: String) { (self.id, self.text) = (id, text) }
  }

  private struct Whole: PersistentEntity, Aggregate, Equatable {
    static var entityName: String { name(2) }
    let id: String
    var text: String
    var code: String
    var bytes: Data
    var part: Part
    var parts: [Part]

    static var persistentProperties: [PersistentProperty<Whole>] {
      [
        .init("id", \.id), .init(name(3), \.text, .indexed), .init(name(4), \.code, .unique), .init(name(5), \.bytes),
        .init(name(6), \.part), .init(name(7), \.parts),
      ]
    }
    init(from row: inout RowReader) throws {
      (id, text, code, bytes) = (try row.read(), try row.read(), try row.read(), try row.read())
      (part, parts) = (try row.read(), try row.read())
    }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(text)
      try row.write(code)
      try row.write(bytes)
      try row.write(part)
      try row.write(parts)
    }
    init(id: String, text: String, code: String, bytes: Data, part: Part, parts: [Part]) {
      (self.id, self.text, self.code, self.bytes, self.part, self.parts) = (id, text, code, bytes, part, parts)
    }
  }

  /// Texts that would do harm if they were SQL, and random ones made of what means something to SQL.
  private struct HostileTexts {
    var random: SeededNumbers

    private static let known = [
      "'; DROP TABLE public.canary; --", "\"; DROP TABLE public.canary; --", "\\'; DROP TABLE public.canary; --",
      "$$; DROP TABLE public.canary; $$", "$concord$; DROP TABLE public.canary; --", "E'\\x27'", "$1", "${1}", "%s",
      "*/ DROP TABLE public.canary /*", "U&\"\\0022\"", "select", "SELECT", "user", "table", "order by", "null", "true",
      "concord", "public.canary", "pg_catalog", "a.b", "a\"b", "a'b", "a\\b", "a\nb", "a\r\nb", "\t", " ", "  x ", "é",
      "\"\u{301} FROM public.canary --", "'\u{301} --", "\\\u{301}'; DROP TABLE public.canary; --", "\"\u{200D}",
      "'\u{20DD}",
      "e\u{301}", "Ω≈ç", "😀", "👩‍👩‍👧‍👦", "\u{202E}abc", "\u{FEFF}", "\u{1}", "\u{1}\u{1}", "\u{7F}", "ctid", "xmin",
      "xmax", "cmin", "cmax", "tableoid", "oid", "ID", "Id", "_owner", "_stamp", "_position", "stamp",
      String(repeating: "x", count: 63), String(repeating: "x", count: 64), String(repeating: "é", count: 40),
      String(repeating: "\"", count: 70), String(repeating: "😀", count: 20), "CONCORD_STATE", "Concord_changes",
      "concord.a", "--", ";", "''", "\"\"", "\\", "\\\\", "0", "1e5", "-1", "x'00'", "{}", "{a,b}", "(1)", "NaN",
    ]
    private static let pieces = [
      "'", "\"", "\\", "$", "$1", "$$", ";", "--", "/*", "*/", "(", ")", ",", "%", "{", "}", "E'", "U&'", "\n", " ",
      "a", "B", "é", "e\u{301}", "\u{301}", "\u{200D}", "😀", "\u{10FFFF}", "\u{1}", "select", "from", "union", "null",
      ".", "_", "0", "concord",
    ]

    mutating func next(allowsNull: Bool) -> String {
      if Int.random(in: 0..<2, using: &random) == 0 { return Self.known.randomElement(using: &random) ?? "" }
      let count = Int.random(in: 1...(Int.random(in: 0..<6, using: &random) == 0 ? 60 : 6), using: &random)
      let pieces = allowsNull ? Self.pieces + ["\0", ""] : Self.pieces
      return (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
    }

    /// Names that differ.
    mutating func names(_ count: Int) -> [String] {
      var found: [String] = []
      while found.count < count {
        let name = next(allowsNull: false)
        // The id has a name of its own.
        if !found.contains(name), name.lowercased() != "id" { found.append(name) }
      }
      return found
    }
  }

  @Suite("Hostile names and values", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct HostileTests {
    private static let seed = TestOptions.seed(.random(in: 0..<1_000_000))

    /// A container with an own store.
    private func container(_ model: Model, _ schema: String) throws -> GenericPersistentContainer<
      ContextStrategy.Direct
    > {
      let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Hostile", model: model)
      let url = try PostgreSQLServer.shared.get().url
      try container.attachPersistentStore(
        for: StoreConfiguration(
          type: .postgreSQL,
          options: [
            ConcordPostgreSQLOption: url, ConcordPostgreSQLSchemaOption: schema, ConcordPostgreSQLPoolSizeOption: 2,
          ]))
      return container
    }

    private func tables(_ schema: String) throws -> Int {
      let text = try PostgreSQLServer.shared.get().sql(
        "SELECT count(*) FROM pg_tables WHERE schemaname = \(literal(storedName(schema)))")
      return Int(text) ?? -1
    }

    @Test("A mark that combines with a quote does not hide it: names stay names, and texts texts")
    func combiningMarks() throws {
      let connection = try PostgreSQLConnection(PostgreSQLOptions(connection: PostgreSQLServer.shared.get().url))
      for quote in ["\"", "'", "\\", "\"\"", "\\'"] {
        for mark in ["", "\u{301}", "\u{200D}", "\u{20DD}", "\u{FE0F}"] {
          let text = "a\(quote)\(mark) b"
          var parameters = PostgreSQLParameters()
          parameters.append(text)
          let result = try connection.run([
            .once(
              "SELECT \(literal(text)) = $1, to_jsonb(x) ? $1 FROM (SELECT 7 AS \(identifier(text))) AS x", parameters)
          ])[0]
          #expect(result.bool(0, 0) && result.bool(0, 1), "\(text.unicodeScalars.map(\.value))")
        }
      }
    }

    @Test("Whatever entities, properties and the schema are called, all is kept to the bit, or the name is refused")
    func hostileNames() throws {
      let server = try PostgreSQLServer.shared.get()
      try server.sql(
        """
        DROP TABLE IF EXISTS public.canary; CREATE TABLE public.canary (x int); INSERT INTO public.canary VALUES (7);
        ALTER TABLE public.canary OWNER TO shop
        """)
      defer { _ = try? server.sql("DROP TABLE public.canary") }
      print("hostile names: CONCORD_RANDOM_SEED=\(Self.seed)")
      var texts = HostileTexts(random: SeededNumbers(seed: Self.seed))
      var refused: [String] = []
      for round in 0..<(TestOptions.isLong ? 300 : 12) {
        let given = texts.names(8)
        names.withLock { $0 = given }
        let schema = "\(texts.next(allowsNull: false))-\(Self.seed)-\(round)"
        let comment: Comment = "round \(round): \(schema.debugDescription) \(given.map(\.debugDescription))"
        do {
          let model = try Model("Hostile", entities: [Part.self, Whole.self])
          let first = try container(model, schema)
          let part = Part(id: texts.next(allowsNull: true), text: texts.next(allowsNull: true))
          var whole = Whole(
            id: texts.next(allowsNull: true), text: texts.next(allowsNull: true), code: texts.next(allowsNull: true),
            bytes: Data(texts.next(allowsNull: true).utf8), part: part,
            parts: [part, Part(id: "other", text: texts.next(allowsNull: true))])
          if part.id == "other" { whole.parts = [part] }
          let context = first.newBackgroundContext()
          context.insert(whole)
          try context.save()
          let list = try first.viewContext.query(FetchDescriptor<Whole>())
          #expect(list.value == [whole], comment)
          let (id, text, code) = (whole.id, whole.text, whole.code)
          #expect(
            try first.newBackgroundContext().fetch(FetchDescriptor<Whole>(predicate: #Predicate { $0.id == id }))
              == [whole], comment)
          #expect(
            try first.newBackgroundContext().fetch(
              FetchDescriptor<Whole>(
                predicate: #Predicate { $0.text == text && $0.code == code }, sortBy: [SortDescriptor(\.text)]))
              == [whole], comment)
          // Another one finds all as it is, and changes it; the first one is told.
          let second = try container(model, schema)
          let other = second.newBackgroundContext()
          whole.text = texts.next(allowsNull: true)
          other.insert(whole)
          try other.save()
          #expect(eventually { list.value == [whole] }, comment)
          #expect(throws: StoreError.self, comment) {
            other.insert(Whole(id: "\(id)!", text: "", code: code, bytes: Data(), part: part, parts: []))
            try other.save()
          }
          other.rollback()
          try other.delete(Whole.self, id: id)
          try other.save()
          #expect(eventually { list.value == [] }, comment)
          // Those of the entities and the collection, and Concord's own.
          #expect(try tables(schema) == 11, comment)
          for container in [first, second] { try container.detach(persistentStores: container.persistentStores) }
        } catch StoreError.invalidModel(_, let reason) {
          refused.append("\(given.map(\.debugDescription)): \(reason)")
        } catch StoreError.storeFailed(_, let reason) where schema.hasPrefix("pg_") {
          // Such names are the server's own.
          #expect(reason.contains("unacceptable schema name"), comment)
          refused.append("\(schema.debugDescription): \(reason)")
        }
        #expect(try server.sql("SELECT x FROM public.canary") == "7", comment)
        try server.sql("DROP SCHEMA IF EXISTS \(identifier(schema)) CASCADE")
      }
      // So that not all of them are.
      #expect(refused.count <= (TestOptions.isLong ? 200 : 10))
      print("hostile names: \(refused.count) refused")
      for refusal in refused { print("  \(refusal)") }
    }

    @Test("Values of any kind are kept, found, sorted and told as in memory")
    func hostileValues() throws {
      let server = try PostgreSQLServer.shared.get()
      try server.sql(
        """
        DROP TABLE IF EXISTS public.canary; CREATE TABLE public.canary (x int); INSERT INTO public.canary VALUES (7);
        ALTER TABLE public.canary OWNER TO shop
        """)
      defer { _ = try? server.sql("DROP TABLE public.canary") }
      print("hostile values: CONCORD_RANDOM_SEED=\(Self.seed)")
      names.withLock { $0 = ["Part", "text", "Whole", "text", "code", "bytes", "part", "parts"] }
      var texts = HostileTexts(random: SeededNumbers(seed: Self.seed))
      let model = try Model("Hostile", entities: [Part.self, Whole.self])
      let schema = "values-\(UUID().uuidString.prefix(8))"
      let database = try container(model, schema)
      let memory = GenericPersistentContainer<ContextStrategy.Direct>(name: "Hostile", model: model)
      try memory.attachPersistentStore(for: StoreConfiguration(type: .inMemory))
      let list = try database.viewContext.query(FetchDescriptor<Whole>())
      var known: [String] = []
      for round in 0..<(TestOptions.isLong ? 600 : 120) {
        let text = texts.next(allowsNull: true)
        let part = Part(id: texts.next(allowsNull: true), text: texts.next(allowsNull: true))
        let whole = Whole(
          id: texts.next(allowsNull: true), text: text, code: "\(round)\(text)", bytes: Data(text.utf8), part: part,
          parts: [part])
        let comment: Comment = "round \(round): \("\(whole)".debugDescription)"
        for container in [database, memory] {
          let context = container.newBackgroundContext()
          context.insert(whole)
          try context.save()
        }
        known.append(text)
        let searched = known.randomElement(using: &texts.random) ?? ""
        for descriptor in [
          FetchDescriptor<Whole>(predicate: #Predicate { $0.text == searched }, sortBy: [SortDescriptor(\.id)]),
          FetchDescriptor<Whole>(predicate: #Predicate { $0.text.contains(searched) }, sortBy: [SortDescriptor(\.id)]),
          FetchDescriptor<Whole>(predicate: #Predicate { $0.text < searched }, sortBy: [SortDescriptor(\.id)]),
          FetchDescriptor<Whole>(sortBy: [SortDescriptor(\.text), SortDescriptor(\.id)]),
        ] {
          let found = try database.newBackgroundContext().fetch(descriptor)
          let expected = try memory.newBackgroundContext().fetch(descriptor)
          #expect(found.map(\.id.utf8Bytes) == expected.map(\.id.utf8Bytes), comment)
          #expect(found == expected, comment)
        }
        if round.isMultiple(of: 10) {
          // psql changes it, and the key that the trigger writes is the same one.
          try server.sql("UPDATE \(identifier(schema)).\"Part\" SET text = text || '!'")
          let context = memory.newBackgroundContext()
          for part in try context.fetch(FetchDescriptor<Part>()) {
            try context.update(Part.self, id: part.id) { $0.text += "!" }
          }
          try context.save()
          let expected = try memory.newBackgroundContext().fetch(FetchDescriptor<Whole>())
          let agrees = eventually {
            Dictionary(grouping: list.value, by: \.id.utf8Bytes) == Dictionary(grouping: expected, by: \.id.utf8Bytes)
          }
          #expect(agrees, comment)
        }
      }
      #expect(try server.sql("SELECT x FROM public.canary") == "7")
      for container in [database, memory] { try container.detach(persistentStores: container.persistentStores) }
    }
  }

  extension String {
    /// Unlike texts themselves, equal only if they are to the bit.
    fileprivate var utf8Bytes: [UInt8] { Array(utf8) }
  }
#endif
