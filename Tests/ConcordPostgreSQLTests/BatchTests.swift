#if PostgreSQL
  import Concord
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordModel
  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

  /// An entity with a unique value, of which equal ones may look different, and with elements in a table of their own.
  private struct Labelled: PersistentEntity, Equatable {
    let id: Int
    var label: String?
    var number: Int
    var lines: [String]

    static let persistentProperties: [PersistentProperty<Labelled>] = [
      .init("id", \.id), .init("label", \.label, .unique), .init("number", \.number, .unique), .init("lines", \.lines),
    ]
    init(id: Int, label: String?, number: Int, lines: [String] = []) {
      (self.id, self.label, self.number, self.lines) = (id, label, number, lines)
    }
    init(from row: inout RowReader) throws {
      (id, label, number, lines) = (try row.read(), try row.read(), try row.read(), try row.read())
    }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(label)
      try row.write(number)
      try row.write(lines)
    }
  }

  @Suite("Statements for many rows", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct BatchTests {
    private let fleet: Fleet
    private let model: Model

    init() throws {
      fleet = try Fleet()
      model = try Model("Batches", entities: [Progress.self, Labelled.self])
    }

    private func store() throws -> PostgreSQLStore {
      try PostgreSQLStore(
        name: "Batches", PostgreSQLOptions(connection: fleet.server.url, schema: fleet.schema), model: model,
        entities: model.entities)
    }

    /// The number of statements that have changed a table.
    private func statements(_ table: String) throws -> Int {
      Int(try fleet.sql("SELECT count(*) FROM concord_changes WHERE entity = '\(table)'")) ?? -1
    }

    @Test("Deletions in one save become one statement for each table, and are remembered, each with its stamp")
    func deletions() throws {
      let store = try store()
      defer { try? store.close() }
      let context = try store.context(model)
      for id in 0..<300 {
        context.insert(Progress(id: id, last: 0))
        context.insert(Labelled(id: id, label: id % 2 == 0 ? "e\u{301}\(id)" : nil, number: id, lines: ["a", "b"]))
      }
      try context.save()
      let before = try (statements("Progress"), statements("Labelled"))
      for id in 0..<300 {
        _ = try context.delete(Progress.self, id: id, modifiedAt: 1e9 + Double(id))
        if id > 0 { _ = try context.delete(Labelled.self, id: id, modifiedAt: 2e9 + Double(id)) }
      }
      try context.save()
      #expect(try statements("Progress") - before.0 == 1)
      // Those of the elements are told with their owner's.
      #expect(try statements("Labelled") - before.1 <= 2)
      #expect(try fleet.sql("SELECT count(*) FROM \"Progress\"") == "0")
      #expect(
        try context.fetch(FetchDescriptor<Labelled>()) == [
          Labelled(id: 0, label: "e\u{301}0", number: 0, lines: ["a", "b"])
        ])
      #expect(try fleet.sql("SELECT count(*) FROM concord_unique") == "1")
      #expect(
        try fleet.sql("SELECT count(*), min(stamp), max(stamp) FROM concord_deletions") == "599|1000000000|2000000299")
      let key = EntityKey(try model.entity(Progress.self), .integer(7))
      #expect(try store.read { try $0.deletion(of: key) } == 1e9 + 7)
    }

    @Test("A merge of many new entities takes as many round trips as one of few")
    func merges() throws {
      let store = try store()
      defer { try? store.close() }
      let context = try store.context(model)
      func merge(_ objects: [Progress]) throws -> Int {
        let request = MergeRequest(
          objects: objects, uniqueness: [.key], ignored: [], subset: nil, condition: nil, keepsMissing: true, stamp: nil
        )
        return try store.trips {
          let outcome = try context.mergeAndSave(request)
          #expect(outcome?.counts.inserts == objects.count)
        }
      }
      let few = try merge((0..<10).map { Progress(id: $0, last: 1) })
      let many = try merge((1000..<1400).map { Progress(id: $0, last: 2) })
      #expect(many <= few + 3, "\(few) \(many)")
      #expect(try fleet.sql("SELECT count(*), sum(last) FROM \"Progress\"") == "410|810")
    }

    @Test("Changed unique values take as many round trips for many rows as for some")
    func uniqueValues() throws {
      let store = try store()
      defer { try? store.close() }
      let context = try store.context(model)
      for id in 0..<400 { context.insert(Labelled(id: id, label: "label \(id)", number: id)) }
      try context.save()
      func change(_ ids: Range<Int>, _ turn: Int) throws -> Int {
        for id in ids {
          _ = try context.update(Labelled.self, id: id) { labelled in
            labelled.label = id % 3 == 0 ? "e\u{301} \(turn) \(id)" : "label \(turn) \(id)"
            labelled.number = turn * 1000 + id
          }
        }
        return try store.trips { try context.save() }
      }
      let few = try change(0..<10, 1)
      let many = try change(0..<400, 2)
      #expect(many <= few + 3, "\(few) \(many)")
      let found = try context.fetch(FetchDescriptor<Labelled>(sortBy: [SortDescriptor(\.id)]))
      #expect(
        found
          == (0..<400).map {
            Labelled(id: $0, label: $0 % 3 == 0 ? "é 2 \($0)" : "label 2 \($0)", number: 2000 + $0)
          })
    }

    @Test("Random saves that exchange, repeat and give up unique values give in a database what they give in memory")
    func randomUniqueValues() throws {
      let seed = UInt64.random(in: 0..<1_000_000)
      print("unique values: seed \(seed)")
      var random = SeededNumbers(seed: seed)
      let store = try store()
      defer { try? store.close() }
      let contexts = [try store.context(model, .error), try MemoryStore(name: "memory").context(model, .error)]
      let labels = ["a", "é", "e\u{301}", "b", "c", "d", nil, nil]
      var outcomes: Set<Bool> = []
      for round in 0..<150 {
        var steps: [(BackgroundContext) throws -> Void] = []
        for _ in 0..<Int.random(in: 1...5, using: &random) {
          let id = Int.random(in: 0..<6, using: &random)
          let label = labels.randomElement(using: &random) ?? nil
          let number = Int.random(in: 0..<9, using: &random)
          switch Int.random(in: 0..<6, using: &random) {
          case 0: steps.append { _ = try $0.delete(Labelled.self, id: id) }
          case 1: steps.append { $0.insert(Labelled(id: id, label: label, number: number)) }
          default:
            steps.append { context in
              _ = try context.update(Labelled.self, id: id) { ($0.label, $0.number) = (label, number) }
            }
          }
        }
        let results = contexts.map { context in
          Result {
            for step in steps { try step(context) }
            try context.save()
          }
        }
        let errors = results.map { result in if case .failure(let error) = result { "\(error)" } else { "" } }
        for context in contexts { context.rollback() }
        #expect(errors[0].isEmpty == errors[1].isEmpty, "round \(round): \(errors)")
        outcomes.insert(errors[1].isEmpty)
        let found = try contexts.map { try $0.fetch(FetchDescriptor<Labelled>(sortBy: [SortDescriptor(\.id)])) }
        #expect(found[0] == found[1], "round \(round)")
      }
      #expect(outcomes.count == 2)
    }

    @Test("A constraint that an administrator has added refuses a row; it is not left out without a word")
    func constraints() throws {
      let store = try store()
      defer { try? store.close() }
      let context = try store.context(model, .error)
      context.insert(Progress(id: 1, last: 7))
      try context.save()
      try fleet.sql("ALTER TABLE \"Progress\" ADD CONSTRAINT once UNIQUE (last)")
      context.insert(Progress(id: 2, last: 7))
      #expect(throws: StoreError.self) { try context.save() }
      context.rollback()
      let key = EntityKey(try model.entity(Progress.self), .integer(3))
      #expect(throws: StoreError.self) {
        try store.write(origin: nil) { try $0.insert(fleet.row(3, 7), for: key) }
      }
      #expect(try fleet.sql("SELECT id FROM \"Progress\"") == "1")
    }
  }
#endif
