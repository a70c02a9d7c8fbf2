#if PostgreSQL
  import Concord
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

  /// With texts that are searched.
  struct Note: PersistentEntity, Equatable {
    let id: Int
    var title: String
    var text: String?
    var year: Int

    static let persistentProperties: [PersistentProperty<Note>] = [
      .init("id", \.id), .init("title", \.title, .searchable), .init("text", \.text, .searchable),
      .init("year", \.year),
    ]

    init(_ id: Int, _ title: String, _ text: String? = nil, year: Int = 0) {
      (self.id, self.title, self.text, self.year) = (id, title, text, year)
    }

    init(from row: inout RowReader) throws {
      self.init(try row.read(), try row.read(), try row.read(), year: try row.read())
    }

    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(title)
      try row.write(text)
      try row.write(year)
    }
  }

  /// The same, of a model without searches.
  struct PlainNote: PersistentEntity, Equatable {
    static let entityName = "Note"
    let id: Int
    var title: String
    var text: String?
    var year: Int

    static let persistentProperties: [PersistentProperty<PlainNote>] = [
      .init("id", \.id), .init("title", \.title), .init("text", \.text), .init("year", \.year),
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

  /// A search in the text alone.
  struct TextNote: PersistentEntity, Equatable {
    static let entityName = "Note"
    let id: Int
    var title: String
    var text: String?
    var year: Int

    static let persistentProperties: [PersistentProperty<TextNote>] = [
      .init("id", \.id), .init("title", \.title), .init("text", \.text, .searchable), .init("year", \.year),
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

  /// Stores with searchable texts that share one schema, as processes have them.
  struct SearchFleet {
    let server: PostgreSQLServer
    let schema = "words-\(UUID().uuidString.prefix(8))"
    let model: Model

    init(_ types: any PersistentEntity.Type...) throws {
      server = try PostgreSQLServer.shared.get()
      model = try Model("Notes", entities: types.isEmpty ? [Note.self] : types)
    }

    /// - Parameters:
    ///   - interval: the least time between two times that rows are folded after a search.
    ///   - timeout: the time to wait for a connection; a statement may take longer.
    func store(
      _ model: Model? = nil, role: String? = nil, interval: Double = 3600, timeout: Double = 30
    ) throws -> PostgreSQLStore {
      let url = role.map { server.url(ports: [server.port], role: $0) } ?? server.url
      var options = PostgreSQLOptions(connection: url, schema: schema)
      options.pollInterval = interval
      (options.timeout, options.statementTimeout) = (timeout, 30)
      let model = model ?? self.model
      return try PostgreSQLStore(name: "Notes", options, model: model, entities: model.entities)
    }

    @discardableResult
    func sql(_ sql: String) throws -> String {
      try server.sql("SET search_path TO \(identifier(schema)); \(sql)")
    }

    var index: PostgreSQLSearchIndex? { model.entities.first.flatMap { PostgreSQLSearchIndex($0) } }

    /// The number of rows that are noted.
    func noted() throws -> Int {
      let index = try #require(index)
      return Int(try sql("SELECT count(*) FROM \(index.table) WHERE \(index.column) IS NULL")) ?? -1
    }

    /// Expects that each row has its words or is noted, and no others are there.
    func expectWhole(noted: Int? = nil, _ comment: Comment? = nil) throws {
      if let noted { #expect(try self.noted() == noted, comment) }
      let store = try store()
      defer { try? store.close() }
      try expectWhole(store, comment)
    }

    private func expectWhole(_ store: PostgreSQLStore, _ comment: Comment?) throws {
      let index = try #require(index)
      try store.pool.with { connection in
        let results = try connection.run([
          .once("SELECT \"key\", \(index.column)::text, is_long FROM \(index.table) ORDER BY \"key\""),
          .once("SELECT \"id\" FROM \(identifier(index.entity.name)) ORDER BY \"id\""),
        ])
        let ids = (0..<results[1].count).map { index.keyForm.read(results[1], $0, 0) }
        let keys = (0..<results[0].count).map { index.keyForm.read(results[0], $0, 0) }
        #expect(keys == ids, comment)
        var array = ParameterRows([index.keyForm.type])
        for id in ids { array.append { _ = index.keyForm.append(id, to: &$0) } }
        let texts = try connection.run([.once(index.texts, array.arrays)])[0]
        var expected: [StoredValue: String] = [:]
        for row in 0..<texts.count {
          let (key, vector) = index.vector(texts, row)
          expected[key] = vector.map { Self.sorted($0) } ?? "long"
        }
        for row in 0..<results[0].count where !results[0].isNull(row, 1) || results[0].bool(row, 2) {
          let found = results[0].isNull(row, 1) ? "long" : Self.sorted(results[0].text(row, 1))
          #expect(found == expected[keys[row]], comment)
        }
      }
    }

    private static func sorted(_ vector: String) -> String {
      vector.split(separator: " ").map(String.init).sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
        .joined(separator: " ")
    }
  }

  extension BackgroundContext {
    func ids(_ query: SearchQuery) throws -> [Int] {
      try fetch(FetchDescriptor<Note>(search: query)).map(\.id).sorted()
    }

    /// The names of the indexes with which a search finds rows.
    func indexes(_ query: SearchQuery) throws -> [String] {
      try explain(FetchDescriptor<Note>(search: query, fetchLimit: 5)).plan.accesses.compactMap {
        if case .search(let index) = $0.method { index } else { nil }
      }
    }

    func usesWords(_ query: SearchQuery) throws -> Bool {
      try explain(FetchDescriptor<Note>(search: query)).steps.contains { $0.contains("concord_words") }
    }
  }
#endif
