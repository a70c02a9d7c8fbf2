import Concord
import ConcordTestShared
import Foundation
import Testing

@testable import ConcordPersistence

#if Persistence
  import GRDB
#endif

@Suite("Predicates that have no answer for a row")
struct PredicateFailureTests {
  private static let most = Int.max

  /// What the stores evaluate, what is left to memory by another part, and what is unwrapped.
  private static let predicates: [String: Predicate<Essay>] = [
    "store": #Predicate { 10 / $0.year > 0 }, "overflow": #Predicate { most - $0.year + 2 > 0 },
    "memory": #Predicate { $0.text! == "z" || 10 / $0.year > 0 },
    "unwrapping": #Predicate { $0.text! == "a" },
  ]

  private func withContext(
    _ kind: StoreKind, isSaved: Bool, _ body: (BackgroundContext) throws -> Void
  ) throws {
    try kind.withCoordinator(essayModel()) { coordinator in
      let context = coordinator.newContext()
      context.insert(Essay(1, "one", "a", year: 3))
      context.insert(Essay(2, "two", nil, year: 0))
      if isSaved { try context.save() }
      try body(context)
    }
  }

  @Test(
    "Whoever asks is told the same error, which names the type, whatever store has the row, saved or not",
    arguments: StoreKind.allCases, [false, true])
  func errors(_ kind: StoreKind, _ isSaved: Bool) throws {
    try withContext(kind, isSaved: isSaved) { (context: BackgroundContext) throws in
      for (name, predicate) in Self.predicates {
        func fails(_ what: String, _ body: () throws -> Void) {
          do {
            try body()
            Issue.record("\(name): \(what) does not throw")
          } catch StoreError.predicateFailed(let entity, let reason) {
            #expect(entity == "Essay")
            switch name {
            case "store": #expect(reason == "10 / 0 is a division by zero", "\(what)")
            case "overflow": #expect(reason.contains("does not fit into Int"), "\(what): \(reason)")
            default: #expect(!reason.isEmpty)
            }
          } catch { Issue.record("\(name): \(what) throws \(type(of: error)): \(error)") }
        }
        let descriptor = FetchDescriptor<Essay>(predicate: predicate, sortBy: [SortDescriptor(\.title)])
        fails("fetch") { _ = try context.fetch(descriptor) }
        fails("count") { _ = try context.count(descriptor) }
        fails("search") {
          _ = try context.fetch(FetchDescriptor<Essay>(search: "one OR two", where: predicate, fetchLimit: 5))
        }
        fails("aggregate") { _ = try context.aggregate(Essay.self, where: predicate, .sum(\.year)) }
        fails("update") { _ = try context.update(Essay.self, where: predicate) { $0.year = 9 } }
        fails("delete") { _ = try context.delete(Essay.self, where: predicate) }
        if isSaved { fails("purge") { _ = try context.purge(Essay.self, keeping: .matching(predicate)) } }
      }
      #expect(try context.fetch(FetchDescriptor<Essay>()).map(\.year) == [3, 0])
    }
  }

  @Test(
    "Live queries and searches leave such a row out, tell it once, and take it in when there is an answer",
    arguments: StoreKind.allCases, predicates.keys.sorted())
  func live(_ kind: StoreKind, _ name: String) async throws {
    let predicate = try #require(Self.predicates[name])
    let told = Locked<[any Error]>([])
    try await StrategyKind.direct.withContainer(kind, model: essayModel()) { error in
      told.withLock { $0.append(error) }
    } _: { container in
      let (view, context) = (container.viewContext, container.newBackgroundContext())
      for id in 1...20 { context.insert(Essay(id, "word", "a", year: 3)) }
      try context.save()
      try await container.flush()
      let all = try view.query(FetchDescriptor<Essay>(predicate: predicate))
      let first = try view.query(
        FetchDescriptor<Essay>(predicate: predicate, sortBy: [SortDescriptor(\.id)], fetchLimit: 3, fetchOffset: 1))
      let hits = try view.search("word", in: Essay.self, where: predicate, limit: 3)
      func change(_ body: () throws -> Void) async throws {
        try body()
        try context.save()
        try await container.flush()
      }
      // More leave than the limited queries have to spare, so that they fetch again.
      try await change {
        for id in 2...18 {
          try context.update(Essay.self, id: id) { ($0.text, $0.year) = (nil, 0) }
        }
      }
      #expect(all.value.map(\.id) == [1, 19, 20])
      #expect(first.value.map(\.id) == [19, 20])
      #expect(hits.value.map(\.id) == [1, 19, 20])
      let count = told.withLock { $0.count }
      #expect(count > 0 && count <= 3)
      for error in told.withLock({ $0 }) {
        guard case StoreError.predicateFailed(entity: "Essay", _) = error else {
          Issue.record("\(error)")
          continue
        }
      }
      // Nobody is told again, and what concerns other rows is shown.
      try await change { try context.update(Essay.self, id: 19) { $0.year = 1_000 } }
      try await change { try context.delete(Essay.self, id: 20) }
      #expect(told.withLock { $0.count } == count)
      #expect(all.value.map(\.id) == (name == "store" || name == "memory" ? [1] : [1, 19]))
      try await change { try context.update(Essay.self, id: 19) { $0.year = 3 } }
      try await change {
        for id in 2...18 {
          try context.update(Essay.self, id: id) { ($0.text, $0.year) = ("a", 3) }
        }
      }
      #expect(all.value.map(\.id) == Array(1...19))
      #expect(first.value.map(\.id) == [2, 3, 4])
      #expect(hits.value.map(\.id) == [1, 2, 3])
      #expect(told.withLock { $0.count } == count)
    }
  }

  private static let divisions: [String: Predicate<Essay>] = [
    "alone": #Predicate { 10 / $0.year > 0 },
    "behind a value by which queries are found": #Predicate { $0.title == "word" && 10 / $0.year > 0 },
    "in memory": #Predicate { ($0.text ?? "").count < 9 && 10 / $0.year > 0 },
  ]

  /// A live query over 40 rows, and what changes them.
  private struct Told {
    let errors: Locked<[any Error]>
    let container: any PersistentContainer
    let query: EntityObserver<[Essay]>

    /// Saves a change, and expects how many errors were told since.
    func expect(_ count: Int, _ line: Int = #line, after body: (BackgroundContext) throws -> Void) async throws {
      let before = errors.withLock { $0.count }
      let context = container.newBackgroundContext()
      try body(context)
      try context.save()
      try await container.flush()
      let new = errors.withLock { $0.dropFirst(before) }
      #expect(new.count == count, "line \(line): \(new)")
      #expect(query.value.allSatisfy { $0.year > 0 })
    }
  }

  private func withQuery(
    _ kind: StoreKind, _ descriptor: FetchDescriptor<Essay>, _ body: (Told) async throws -> Void
  ) async throws {
    let errors = Locked<[any Error]>([])
    try await StrategyKind.direct.withContainer(kind, model: essayModel()) { error in
      errors.withLock { $0.append(error) }
    } _: { container in
      let context = container.newBackgroundContext()
      for id in 1...40 { context.insert(Essay(id, "word", "a", year: 3)) }
      try context.save()
      try await container.flush()
      let query = try container.viewContext.query(descriptor)
      try await body(Told(errors: errors, container: container, query: query))
    }
  }

  @Test(
    "Each entity is told that has no answer any longer, also where another one with the same error has gone",
    arguments: StoreKind.allCases, divisions.keys.sorted())
  func eachEntity(_ kind: StoreKind, _ name: String) async throws {
    let predicate = try #require(Self.divisions[name])
    try await withQuery(kind, FetchDescriptor(predicate: predicate)) { told in
      func change(_ count: Int, _ id: Int, _ line: Int = #line, _ body: (inout Essay) -> Void) async throws {
        try await told.expect(count, line) { try $0.update(Essay.self, id: id, body) }
      }
      try await change(1, 2) { $0.year = 0 }
      try await change(0, 2) { $0.text = "b" }
      try await told.expect(0) { try $0.delete(Essay.self, id: 2) }
      try await change(1, 3) { $0.year = 0 }
      // There is an answer, though the query does not find it.
      try await change(0, 3) { $0.year = 1_000 }
      try await change(1, 4) { $0.year = 0 }
      try await change(1, 3) { $0.year = 0 }
      try await told.expect(1) { $0.insert(Essay(2, "word", "a", year: 0)) }
      try await change(0, 3) { $0.year = 3 }
      try await change(0, 2) { $0.text = "b" }
      try await told.expect(1) { context in
        for id in 5...9 { try context.update(Essay.self, id: id) { $0.year = 0 } }
      }
      #expect(told.query.value.map(\.id).sorted() == [1, 3] + Array(10...40))
    }
  }

  @Test("A value that the predicate asks for first is an answer", arguments: StoreKind.allCases)
  func answeredByAnother(_ kind: StoreKind) async throws {
    let predicate = try #require(Self.divisions["behind a value by which queries are found"])
    try await withQuery(kind, FetchDescriptor(predicate: predicate)) { told in
      func change(_ count: Int, _ line: Int = #line, _ body: (inout Essay) -> Void) async throws {
        try await told.expect(count, line) { try $0.update(Essay.self, id: 2, body) }
      }
      try await change(1) { $0.year = 0 }
      try await change(0) { $0.title = "other" }
      try await change(1) { $0.title = "word" }
      try await change(0) { $0.year = 3 }
      #expect(told.query.value.count == 40)
    }
  }

  @Test(
    "An entity that has no answer is told once, whatever the error says of others, and whatever is fetched again",
    arguments: StoreKind.allCases, [nil, 1, 3])
  func once(_ kind: StoreKind, _ limit: Int?) async throws {
    let most = Self.most
    let predicate = #Predicate<Essay> { most - $0.year - $0.year + 5 > 0 }
    let order = [SortDescriptor(\Essay.id, order: .reverse)]
    try await withQuery(kind, FetchDescriptor(predicate: predicate, sortBy: order, fetchLimit: limit)) { told in
      // Both texts have other numbers.
      try await told.expect(1) { context in
        for id in 1...2 { try context.update(Essay.self, id: id) { $0.year = id } }
      }
      for id in [1, 2, 1, 40, 2] {
        try await told.expect(0) { try $0.update(Essay.self, id: id) { $0.text = "\(id)" } }
      }
      // More than the limited queries have to spare, so that they fetch again.
      try await told.expect(0) { context in for id in 20...40 { try context.delete(Essay.self, id: id) } }
      for id in [1, 2, 1, 19, 2] {
        try await told.expect(0) { try $0.update(Essay.self, id: id) { $0.text = "-\(id)" } }
      }
      try await told.expect(1) { try $0.update(Essay.self, id: 19) { $0.year = 1 } }
      try await told.expect(0) { try $0.update(Essay.self, id: 2) { $0.year = 3 } }
      try await told.expect(1) { try $0.update(Essay.self, id: 2) { $0.year = 2 } }
      let expected = Array((3...18).reversed())
      #expect(told.query.value.map(\.id) == Array(expected.prefix(limit ?? .max)))
    }
  }

  #if Persistence
    @Test("Entities that another program gives an answer are left out no longer, however many they are")
    func manyMended() async throws {
      let errors = Locked<[any Error]>([])
      try await StrategyKind.direct.withContainer(.sqlite, model: essayModel()) { error in
        errors.withLock { $0.append(error) }
      } _: { container in
        let context = container.newBackgroundContext()
        let count = 600
        for id in 1...count { context.insert(Essay(id, "word", "a", year: 3)) }
        try context.save()
        try await container.flush()
        let query = try container.viewContext.query(FetchDescriptor<Essay>(predicate: #Predicate { 10 / $0.year > 0 }))
        for id in 1...count { try context.update(Essay.self, id: id) { $0.year = 0 } }
        try context.save()
        try await container.flush()
        #expect(query.value.isEmpty)
        let file = try #require(container.persistentStoreCoordinator.persistentStores.first?.url)
        try await DatabaseQueue(path: file.path).write { try $0.execute(sql: "UPDATE Essay SET year = 3") }
        #expect(try await eventually { query.value.count == count })
        // So each is told that has none any longer.
        for id in stride(from: 1, through: count, by: 3) {
          let before = errors.withLock { $0.count }
          try context.update(Essay.self, id: id) { $0.year = 0 }
          try context.save()
          try await container.flush()
          #expect(errors.withLock { $0.count } == before + 1, "\(id)")
        }
      }
    }
  #endif
}
