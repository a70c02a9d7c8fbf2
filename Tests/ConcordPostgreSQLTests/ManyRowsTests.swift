#if PostgreSQL
  import Concord
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordModel
  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

  private struct Flat: PersistentEntity, Equatable {
    let id: Int
    var text: String?
    var number: Double
    var isSeen: Bool
    var token: UUID

    static let persistentProperties: [PersistentProperty<Flat>] = [
      .init("id", \.id), .init("text", \.text), .init("number", \.number), .init("isSeen", \.isSeen),
      .init("token", \.token),
    ]
    init(id: Int, _ random: inout some RandomNumberGenerator) {
      self.id = id
      text = [nil, "", "a", "\u{0}", "'; --", "ä\u{308}", "🙂"].randomElement(using: &random) ?? nil
      number = [0, -0.0, 1.5, .nan, .infinity, .greatestFiniteMagnitude].randomElement(using: &random) ?? 0
      isSeen = Bool.random(using: &random)
      token = UUID()
    }
    init(from row: inout RowReader) throws {
      (id, text, number) = (try row.read(), try row.read(), try row.read())
      (isSeen, token) = (try row.read(), try row.read())
    }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(text)
      try row.write(number)
      try row.write(isSeen)
      try row.write(token)
    }
  }

  private struct Named: PersistentEntity, Equatable {
    let id: String
    var count: Int

    static let persistentProperties: [PersistentProperty<Named>] = [.init("id", \.id), .init("count", \.count)]
    init(id: String, count: Int) { (self.id, self.count) = (id, count) }
    init(from row: inout RowReader) throws { (id, count) = (try row.read(), try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(count)
    }
  }

  @Suite("Many rows in a statement", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct ManyRowsTests {
    private let model: Model
    private let store: PostgreSQLStore
    private let memory = MemoryStore(name: "memory")

    init() throws {
      model = try Model("Many", entities: [Flat.self, Named.self, Listed.self])
      let options = PostgreSQLOptions(
        connection: try PostgreSQLServer.shared.get().url, schema: "many-\(UUID().uuidString.prefix(8))")
      store = try PostgreSQLStore(name: "Many", options, model: model, entities: model.entities)
    }

    private func row(_ key: EntityKey, _ stamp: Stamp, _ random: inout SeededNumbers) throws -> StoredRow {
      let number = Int.random(in: 0..<5, using: &random)
      guard case .integer(let id) = key.id else {
        guard case .text(let id) = key.id else { throw StoreError.noStore(entity: "") }
        // Ids that are equal, but look different.
        let name = Bool.random(using: &random) ? id : id.decomposedStringWithCanonicalMapping
        return try key.entity.row(of: Named(id: name, count: number), stamp: stamp)
      }
      if key.entity.name == "Listed" {
        let lines = (0..<number).map { _ in "line \(Int.random(in: 0..<3, using: &random))" }
        return try key.entity.row(of: Listed(id: Int(id), lines: lines), stamp: stamp)
      }
      return try key.entity.row(of: Flat(id: Int(id), &random), stamp: stamp)
    }

    private func keys(_ random: inout SeededNumbers) throws -> [EntityKey] {
      let entity = try #require(model.entities.randomElement(using: &random))
      let all = (0..<8).map { id in
        EntityKey(entity, entity.name == "Named" ? .text("é\(id)") : .integer(Int64(id)))
      }
      return Array(all.shuffled(using: &random).prefix(Int.random(in: 1...8, using: &random)))
    }

    private enum Step {
      case insertNewest([KeyedRow])
      case insert(EntityKey, StoredRow)
      case update(EntityKey, StoredRow)
      case columns(EntityKey, ColumnSet, StoredRow)
      case delete(EntityKey, Stamp?)
      case read([EntityKey])
      case prepare([EntityKey])
    }

    private func step(_ random: inout SeededNumbers) throws -> Step {
      let keys = try keys(&random)
      let key = keys[0]
      let stamp = Double(Int.random(in: 1..<20, using: &random))
      let row = try row(key, stamp, &random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0...2:
        return .insertNewest(
          try keys.map { ($0, try self.row($0, Double(Int.random(in: 1..<20, using: &random)), &random)) })
      case 3: return .insert(key, row)
      case 4: return .update(key, row)
      case 5...6:
        var columns = ColumnSet()
        for position in key.entity.columns.indices where position != key.entity.idPosition {
          if Bool.random(using: &random) { columns.insert(position) }
        }
        return .columns(key, columns, row)
      case 7: return .delete(key, Bool.random(using: &random) ? stamp : nil)
      case 8: return .read(keys)
      default: return .prepare(keys)
      }
    }

    /// Does it, and describes what it gives.
    private func run(_ step: Step, _ writing: any RowWriting) throws -> String {
      switch step {
      case .insertNewest(let rows): return "\(try writing.insertNewest(rows))"
      case .insert(let key, let row): return "\(try writing.insert(row, for: key))"
      case .update(let key, let row):
        guard let old = try writing.row(of: key) else { return "nothing" }
        try writing.update(row, replacing: old, for: key)
      case .columns(let key, let columns, let row):
        guard try writing.withRow(of: key, { _ in true }) != nil else { return "nothing" }
        try writing.update(key, columns, of: row.values[...], stamp: row.stamp)
      case .delete(let key, let stamp?): try writing.delete(key, stamp: stamp)
      case .delete(let key, nil): try writing.delete(key)
      case .read(let keys):
        return try keys.map { "\(String(describing: try writing.row(of: $0))) \(try writing.deletion(of: $0) ?? -1)" }
          .joined(separator: "\n")
      case .prepare(let keys): try writing.prepare(keys)
      }
      return "done"
    }

    private func all(_ reading: any RowReading) throws -> String {
      var found: [String] = []
      for entity in model.entities {
        try reading.rows(RowQuery(entity)) { key, source in
          let values = entity.columns.indices.map { source.value(at: $0) }
          let collections = try entity.collections.indices.map { try source.collection($0) }
          found.append("\(entity.name) \(key) \(values) \(collections) \(source.stamp)")
          return true
        }
      }
      return found.sorted().joined(separator: "\n")
    }

    @Test("Random writes of many rows give in a database what they give in memory, step by step")
    func random() throws {
      defer { try? store.close() }
      let seed = UInt64.random(in: 0 ... .max)
      var random = SeededNumbers(seed: seed)
      for transaction in 0..<(TestOptions.isLong ? 3000 : 80) {
        let steps = try (0..<Int.random(in: 1..<12, using: &random)).map { _ in try step(&random) }
        let expected = try memory.write(origin: nil) { writing in try steps.map { try run($0, writing) } }
        let found = try store.write(origin: nil) { writing in try steps.map { try run($0, writing) } }
        try #require(found == expected, "seed \(seed), transaction \(transaction): \(steps)")
        try #require(
          try store.read { try all($0) } == memory.read { try all($0) }, "seed \(seed), transaction \(transaction)")
      }
    }

    @Test("A thousand inserts take as many round trips as ten, and so do updates and deletions")
    func roundTrips() throws {
      defer { try? store.close() }
      let entity = try model.entity(Named.self)
      let rows = try (0..<1000).map { number -> KeyedRow in
        let row = try entity.row(of: Named(id: "\(number)", count: 0), stamp: 1)
        return (EntityKey(entity, .text("\(number)")), row)
      }
      var count = ColumnSet()
      count.insert(1)
      func trips(_ body: (any RowWriting) throws -> Void) throws -> Int {
        try store.write(origin: nil) { writing in
          let connection = try #require((writing as? PostgreSQLSession)?.connection)
          let before = connection.batches
          try body(writing)
          try (writing as? PostgreSQLSession)?.flush()
          return connection.batches - before
        }
      }
      var written: [Bool] = []
      #expect(try trips { written = try $0.insertNewest(rows) } == 1)
      #expect(written == rows.map { _ in true })
      #expect(try trips { written = try $0.insertNewest(rows) } == 1)
      #expect(written == rows.map { _ in false })
      #expect(
        try trips { writing in
          for (key, row) in rows {
            try writing.update(key, count, of: [row.values[0], .integer(5)], stamp: 2)
          }
        } == 1)
      var found: [StoredValue?] = []
      #expect(
        try trips { writing in
          try writing.prepare(rows.map(\.key))
          found = try rows.map { try writing.row(of: $0.key)?.values[1] }
        } == 1)
      #expect(found == rows.map { _ in .integer(5) })
      #expect(try trips { writing in for (key, _) in rows { try writing.delete(key) } } == 1)
      #expect(try store.read { try $0.count(RowQuery(entity)) } == 0)
    }
  }
#endif
