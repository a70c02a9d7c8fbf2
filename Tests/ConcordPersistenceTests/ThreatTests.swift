import Concord
import Foundation
import Testing

@testable import ConcordPersistence

#if Persistence
  import GRDB
#endif

/// What the page *Threat model* says.
@Suite("Files and predicates of others")
struct ThreatTests {
  // MARK: Predicates

  private func save(_ reviews: Int, _ coordinator: PersistentStoreCoordinator) throws -> BackgroundContext {
    let context = coordinator.newContext()
    for number in 0..<reviews { context.insert(Review(id: number, text: "\(number)", stars: number % 5)) }
    try context.save()
    return context
  }

  private typealias Condition = StandardPredicateExpression<Bool>
  private typealias Variable = PredicateExpressions.Variable<Review>

  /// `id == number`
  private func isID(_ number: Int, _ review: Variable) -> some Condition {
    PredicateExpressions.build_Equal(
      lhs: PredicateExpressions.build_KeyPath(root: review, keyPath: \Review.id),
      rhs: PredicateExpressions.build_Arg(number))
  }

  private func or(_ a: some Condition, _ b: some Condition) -> any Condition {
    PredicateExpressions.build_Disjunction(lhs: a, rhs: b)
  }
  private func and(_ a: some Condition, _ b: some Condition) -> any Condition {
    PredicateExpressions.build_Conjunction(lhs: a, rhs: b)
  }
  private func not(_ a: some Condition) -> any Condition { PredicateExpressions.build_Negation(a) }

  @Test("A predicate of any length and depth gives its rows", arguments: StoreKind.allCases)
  func large(_ kind: StoreKind) throws {
    let model = try Model("M", entities: [Review.self])
    try kind.withCoordinator(model) { coordinator in
      let context = try save(40, coordinator)
      func ids(_ predicate: Predicate<Review>) throws -> [Int] {
        try context.fetch(FetchDescriptor<Review>(predicate: predicate)).map(\.id)
      }
      for length in [10, 60, 120] {
        // ((0 || 1) || 2) || …, and the same in a loop from the other side.
        let left = Predicate<Review> { review in
          var condition: any Condition = isID(0, review)
          for number in 1..<length { condition = or(condition, isID(number * 2, review)) }
          return condition
        }
        let right = Predicate<Review> { review in
          var condition: any Condition = isID(0, review)
          for number in 1..<length { condition = or(isID(number * 2, review), condition) }
          return condition
        }
        let expected = (0..<40).filter { $0 % 2 == 0 && $0 / 2 < length }
        #expect(try ids(left) == expected)
        #expect(try ids(right) == expected)
      }
      let nested = Predicate<Review> { review in
        var condition: any Condition = isID(39, review)
        for number in 1..<8 { condition = not(or(isID(number, review), not(and(condition, condition)))) }
        return condition
      }
      let all = try context.fetch(FetchDescriptor<Review>())
      let expected = try all.filter { try nested.evaluate($0) }.map(\.id)
      #expect(try ids(nested) == expected)
      let chain = Predicate<Review> { review in
        var condition: any Condition = isID(7, review)
        for _ in 0..<90 { condition = not(condition) }
        return condition
      }
      #expect(try ids(chain) == [7])
      let many = Array(stride(from: 0, to: 600_000, by: 2))
      #expect(try ids(#Predicate { many.contains($0.id) }) == (0..<40).filter { $0 % 2 == 0 })
    }
  }

  private typealias Number = StandardPredicateExpression<Int>

  private func add(_ a: some Number, _ number: Int) -> any Number {
    PredicateExpressions.build_Arithmetic(lhs: a, rhs: PredicateExpressions.build_Arg(number), op: .add)
  }
  private func choose(_ a: some Condition, _ b: some Number) -> any Number {
    PredicateExpressions.build_Conditional(a, PredicateExpressions.build_Arg(1), b)
  }
  private func isIn(_ range: ClosedRange<Int>, _ a: some Number) -> any Condition {
    PredicateExpressions.build_contains(PredicateExpressions.build_Arg(range), a)
  }
  private func isLarge(_ a: some Number) -> any Condition {
    PredicateExpressions.build_Comparison(lhs: a, rhs: PredicateExpressions.build_Arg(42), op: .greaterThan)
  }

  @Test(
    "A predicate of any depth gives its rows though no store evaluates the innermost part",
    .timeLimit(.minutes(1)), arguments: StoreKind.allCases)
  func deepInMemory(_ kind: StoreKind) throws {
    try kind.withCoordinator(Model("M", entities: [Review.self])) { coordinator in
      let context = try save(40, coordinator)
      let all = try context.fetch(FetchDescriptor<Review>())
      func check(_ predicate: Predicate<Review>) throws {
        let expected = try all.filter { try predicate.evaluate($0) }.map(\.id)
        #expect(try context.fetch(FetchDescriptor<Review>(predicate: predicate)).map(\.id) == expected)
        #expect(try context.count(FetchDescriptor<Review>(predicate: predicate)) == expected.count)
      }
      try check(
        Predicate<Review> { review in
          var condition: any Condition = PredicateExpressions.build_KeyPath(root: review, keyPath: \Review.isLong)
          for number in 0..<40 { condition = or(not(condition), isID(number, review)) }
          return condition
        })
      try check(
        Predicate<Review> { review in
          var number: any Number = PredicateExpressions.build_KeyPath(root: review, keyPath: \Review.length)
          for _ in 0..<40 { number = add(number, 1) }
          return isLarge(number)
        })
      try check(
        Predicate<Review> { review in
          var number: any Number = PredicateExpressions.build_KeyPath(root: review, keyPath: \Review.length)
          for turn in 0..<30 { number = choose(isIn(0...turn, number), PredicateExpressions.build_Arg(turn + 2)) }
          return isIn(1...1, number)
        })
      try check(
        Predicate<Review> { review in
          var number: any Number = PredicateExpressions.build_KeyPath(root: review, keyPath: \Review.id)
          for turn in 0..<30 { number = choose(isID(turn, review), number) }
          return isLarge(number)
        })
    }
  }

  // MARK: Files

  #if Persistence
    private func withFile<R>(_ sql: String, _ body: (PersistentStoreCoordinator, SQLiteStore) throws -> R) throws -> R {
      try withFolder { folder in
        let url = folder.appending(path: "a.sqlite")
        let model = try libraryModel()
        let made = try SQLiteStore(url: url, entities: model.entities)
        let coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.attach(made, configuration: "")
        let context = coordinator.newContext()
        let author = Author(id: "a", name: "A")
        for number in 0..<200 {
          context.insert(
            Book(
              id: "\(number)", title: "Title \(number)", author: author, reviews: [Review(id: number, text: "text")]))
        }
        try context.save()
        try made.close()
        let queue = try DatabaseQueue(path: url.path)
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
        let store = try SQLiteStore(url: url, entities: model.entities)
        let other = PersistentStoreCoordinator(model: model)
        try other.attach(store, configuration: "")
        return try body(other, store)
      }
    }

    @Test("A trigger in a file changes that file at most: it calls no function of the program")
    func triggers() throws {
      // GRDB gives each connection this function.
      let calling = """
        CREATE TRIGGER evil AFTER UPDATE ON Author BEGIN UPDATE Review SET text = swiftUppercaseString(text); END
        """
      try withFile(calling) { coordinator, _ in
        let context = coordinator.newContext()
        try context.update(Author.self, id: "a") { $0.name = "B" }
        #expect {
          try context.save()
        } throws: { error in
          "\(error)".contains("unsafe use of")
        }
        #expect(try coordinator.newContext().find(Author.self, id: "a")?.name == "A")
      }
      let changing = "CREATE TRIGGER evil AFTER UPDATE ON Author BEGIN UPDATE Review SET text = 'evil'; END"
      try withFile(changing) { coordinator, _ in
        let context = coordinator.newContext()
        try context.update(Author.self, id: "a") { $0.name = "B" }
        try context.save()
        #expect(try coordinator.newContext().find(Review.self, id: 1)?.text == "evil")
      }
    }

    @Test("Concord makes no triggers but those of a feed and of an index of words")
    func ownTriggers() throws {
      /// The names of the triggers in a new file, without the parts that name a table and an event.
      func kinds(_ model: Model, _ change: (SQLiteStore) throws -> Void = { _ in }) throws -> Set<String> {
        try withFolder { folder in
          let store = try SQLiteStore(url: folder.appending(path: "a.sqlite"), entities: model.entities)
          try change(store)
          let names = try store.pool.read {
            try String.fetchAll($0, sql: "SELECT name FROM sqlite_master WHERE type = 'trigger'")
          }
          return Set(names.map { String($0.prefix { $0 != "." }) })
        }
      }
      let (plain, searched) = (try libraryModel(), try essayModel())
      #expect(try kinds(plain).isEmpty)
      #expect(try kinds(plain) { try $0.startFeed() } == ["concord_feed"])
      #expect(try kinds(searched) == ["concord_search"])
      #expect(try kinds(searched) { try $0.startFeed() } == ["concord_feed", "concord_search"])
      // Each of them stands on the page, and no other one.
      let page = try String(
        contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(
          path: "../../Sources/ConcordPersistence/ConcordPersistence.docc/ThreatModel.md"), encoding: .utf8)
      let named = page.matches(of: /`(concord_[a-z]+)\.…`/).map { String($0.output.1) }
      #expect(Set(named) == ["concord_feed", "concord_search"])
    }

    @Test("No file makes a program load code or reach other files")
    func loading() throws {
      try withFile("SELECT 1") { _, store in
        for sql in [
          "SELECT load_extension('evil')", "SELECT writefile('/tmp/evil', 'x')", "SELECT readfile('/etc/passwd')",
        ] {
          #expect(throws: DatabaseError.self) { try store.pool.write { try $0.execute(sql: sql) } }
        }
        let isTrusted = [
          try store.pool.read { try Int.fetchOne($0, sql: "PRAGMA trusted_schema") },
          try store.pool.write { try Int.fetchOne($0, sql: "PRAGMA trusted_schema") },
        ]
        #expect(isTrusted == [0, 0])
      }
    }

    @Test(
      "A row that no type can be read from is a typed error, and hides no other row",
      arguments: [
        "UPDATE Book SET title = x'00' WHERE id = '7'", "UPDATE Book SET medium = 'unknown' WHERE id = '7'",
        "UPDATE Book SET author = 'nobody' WHERE id = '7'", "UPDATE Book_reviews SET reviews = -1 WHERE _owner = '7'",
        "UPDATE Book SET medium = 'required' WHERE id = '7'",
      ])
    func wrongRows(_ sql: String) throws {
      try withFile(sql) { coordinator, _ in
        let context = coordinator.newContext()
        #expect(throws: StoreError.self) { _ = try context.find(Book.self, id: "7") }
        #expect(throws: StoreError.self) { _ = try context.fetch(FetchDescriptor<Book>()) }
        #expect(try context.find(Book.self, id: "8")?.title == "Title 8")
        let authors = try context.fetch(FetchDescriptor<Author>())
        #expect(authors.count == 1)
      }
    }

    @Test(
      "Whatever is in the store's own tables, the worst is a typed error",
      arguments: [
        "concord_relations (\"table\", \"column\", target)", "concord_schema (number, entity, \"table\", columns)",
      ])
    func ownTables(_ table: String) throws {
      let name = table.prefix { $0 != " " }
      let count = table.split(separator: ",").count
      let values = ["NULL, ", "x'FFFE', ", "7, ", "1e300, "].map { String(repeating: $0, count: count).dropLast(2) }
      let sql = """
        DROP TABLE \(name); CREATE TABLE \(table);
        INSERT INTO \(name) VALUES \(values.map { "(\($0))" }.joined(separator: ", "))
        """
      do {
        try withFile(sql) { coordinator, _ in
          let context = coordinator.newContext()
          try context.update(Author.self, id: "a") { $0.name = "B" }
          try context.save()
        }
      } catch {
        #expect(error is StoreError, "\(error)")
      }
    }

    @Test("Whatever bytes a file has, the worst is a typed error")
    func damage() throws {
      try withFolder { folder in
        let url = folder.appending(path: "a.sqlite")
        let model = try libraryModel()
        let made = try SQLiteStore(url: url, entities: model.entities)
        let coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.attach(made, configuration: "")
        let context = coordinator.newContext()
        for number in 0..<300 {
          context.insert(
            Book(
              id: "\(number)", title: "Title \(number)", author: Author(id: "\(number % 9)", name: "A"),
              reviews: [Review(id: number, text: String(repeating: "text", count: number))]))
        }
        try context.save()
        try made.close()
        let content = try Data(contentsOf: url)
        var random = SeededGenerator(seed: .random(in: 0 ... .max))
        let seed = random.state
        var failures = 0
        for round in 0..<60 {
          var bytes = content
          for _ in 0..<(round % 3 == 0 ? 1 : 20) {
            let length = random.pick([1, 4, 200])
            let start = Int.random(in: (round % 5 == 0 ? 0 : 100)..<bytes.count - length, using: &random)
            for position in start..<start + length { bytes[position] = .random(in: 0...255, using: &random) }
          }
          for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + suffix) }
          try bytes.write(to: url)
          do {
            let store = try SQLiteStore(url: url, entities: model.entities)
            defer { try? store.close() }
            let coordinator = PersistentStoreCoordinator(model: model)
            try coordinator.attach(store, configuration: "")
            let context = coordinator.newContext()
            _ = try context.fetch(FetchDescriptor<Book>())
            try context.delete(Author.self, id: "3")
            context.insert(Book(id: "1", title: "new", author: Author(id: "1", name: "B")))
            try context.save()
          } catch {
            failures += 1
            #expect(error is StoreError, "seed \(seed), round \(round): \(error)")
          }
        }
        #expect(failures > 0)
      }
    }
  #endif
}

extension Review {
  // No store knows these.
  fileprivate var isLong: Bool { text.count > 1 }
  fileprivate var length: Int { text.count }
}
