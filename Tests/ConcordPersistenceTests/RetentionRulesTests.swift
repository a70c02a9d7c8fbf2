import Concord
import ConcordModel
import Foundation
import Testing

@testable import ConcordPersistence

@Suite("Lasting: rules that stand")
struct RetentionRulesTests {
  @Test("A rule about a time is applied as time passes, though nothing is written")
  func time() async throws {
    try await StrategyKind.direct.withContainer(.memory) { container in
      let (context, view) = (container.newBackgroundContext(), container.viewContext)
      for id in 0..<10 { context.insert(Review(id: id, text: "")) }
      try context.save()
      try container.keep(Review.self, .used(within: .milliseconds(500)))
      let shown = try #require(try view.find(Review.self, id: 3))
      func stored() throws -> [Int] { try context.fetch(FetchDescriptor<Review>()).map(\.id) }
      #expect(try await eventually { try stored() == [3] })
      // More than once.
      context.insert(Review(id: 20, text: ""))
      try context.save()
      #expect(try await eventually { try stored() == [3] })
      withExtendedLifetime(shown) {}
      // Not after it was replaced, or has ended.
      try container.keep(Review.self, .used(within: .seconds(3_600)))
      context.insert(Review(id: 21, text: ""), modifiedAt: Date().timeIntervalSinceReferenceDate - 60)
      try context.save()
      try container.keepAll(Review.self)
      try await Task.sleep(for: .seconds(1.5))
      container.persistentStoreCoordinator.retentionRules.settle()
      #expect(try stored() == [3, 21])
    }
  }

  @Test(
    "No more than the slack stays above a number, whether entities come one by one or together",
    arguments: StoreKind.allCases)
  func slack(_ kind: StoreKind) async throws {
    try await StrategyKind.direct.withContainer(kind) { container in
      let context = container.newBackgroundContext()
      let rules = container.persistentStoreCoordinator.retentionRules
      var next = 0
      func store(_ count: Int) throws -> Int {
        for _ in 0..<count {
          context.insert(Review(id: next, text: ""))
          next += 1
        }
        try context.save()
        rules.settle()
        return try context.count(FetchDescriptor<Review>())
      }
      try container.keep(Review.self, .atMost(3))
      // It is used, and not only exceeded.
      #expect(try (0..<13).map { _ in try store(1) } == Array(1...10) + [3, 4, 5])
      for _ in 0..<40 { #expect(try (3...13).contains(store(1))) }
      // The save that is told may still have its changes: then they are looked at again.
      _ = try store(500)
      #expect(try await eventually { try context.count(FetchDescriptor<Review>()) == 3 })
      #expect(try (0..<10).map { _ in try store(1) } == Array(4...13))
      // A tenth of a greater number.
      try container.keep(Review.self, .atMost(200))
      _ = try store(220)
      #expect(try await eventually { try context.count(FetchDescriptor<Review>()) == 200 })
      #expect(try store(20) == 220)
      #expect(try store(1) == 200)
    }
  }

  @Test(
    "What a rule has to leave is purged once it is saved or taken back, though nothing else is written",
    arguments: StoreKind.allCases)
  func unsaved(_ kind: StoreKind) async throws {
    try await StrategyKind.direct.withContainer(kind) { container in
      let (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
      for id in 0..<5 { context.insert(Review(id: id, text: "")) }
      try context.save()
      func stored() throws -> [Int] { try context.fetch(FetchDescriptor<Review>()).map(\.id) }
      try other.update(Review.self, id: 1) { $0.text = "new" }
      try container.keep(Review.self, .atMost(0))
      #expect(try stored() == [1])
      other.rollback()
      #expect(try await eventually { try stored() == [] })
      // Left by a later application.
      context.insert(Review(id: 6, text: ""))
      try context.save()
      try other.update(Review.self, id: 6) { $0.text = "new" }
      for id in 10..<21 { context.insert(Review(id: id, text: "")) }
      try context.save()
      #expect(try await eventually { try stored() == [6] })
      try other.save()
      #expect(try await eventually { try stored() == [] })
    }
  }

  @Test("A rule with a condition is applied as entities are written", arguments: StoreKind.allCases)
  func condition(_ kind: StoreKind) async throws {
    try await StrategyKind.direct.withContainer(kind) { container in
      let context = container.newBackgroundContext()
      let rules: [Retention<Review>] = [
        .matching(#Predicate { $0.stars ?? 0 >= 3 }),
        // No store evaluates it.
        .matching(#Predicate { $0.stars.flatMap { $0 } ?? 0 >= 3 && $0.text.count > 0 }),
      ]
      for (round, rule) in rules.enumerated() {
        try container.keep(Review.self, rule)
        for batch in 0..<6 {
          for id in 0..<500 {
            context.insert(Review(id: round * 10_000 + batch * 500 + id, text: "\(id)", stars: id % 5))
          }
          try context.save()
          container.persistentStoreCoordinator.retentionRules.settle()
          #expect(try context.count(FetchDescriptor<Review>(predicate: #Predicate { $0.stars ?? 0 < 3 })) <= 1_500)
        }
        let kept = try context.fetch(FetchDescriptor<Review>(sortBy: [SortDescriptor(\.id)]))
        #expect(kept.filter { $0.stars ?? 0 >= 3 }.count == (round + 1) * 1_200)
        #expect(kept.count < (round + 1) * 1_200 + 1_500)
      }
    }
  }

  @Test("What is fetched, found by a query or shown was used", arguments: StoreKind.allCases)
  func uses(_ kind: StoreKind) async throws {
    try await StrategyKind.direct.withContainer(kind) { container in
      let (context, view) = (container.newBackgroundContext(), container.viewContext)
      let long = Date().timeIntervalSinceReferenceDate - 10_000
      for id in 0..<20 { context.insert(Review(id: id, text: "\(id)", stars: id), modifiedAt: long) }
      try context.save()
      func stored() throws -> [Int] { try context.fetch(FetchDescriptor<Review>()).map(\.id) }
      var shown: EntityObserver<Review>? = try view.find(Review.self, id: 7)
      // From now on: what was found before counts as long as it is observed.
      try container.keep(Review.self, .used(within: .seconds(100_000)))
      #expect(shown?.value.id == 7)
      shown = nil
      #expect(try view.fetch(FetchDescriptor<Review>(predicate: #Predicate { $0.id < 2 })).count == 2)
      #expect(try view.query(FetchDescriptor<Review>(predicate: #Predicate { $0.id == 5 })).value.count == 1)
      #expect(try view.count(FetchDescriptor<Review>()) == 20)
      try context.purge(Review.self, keeping: .used(within: .seconds(3_600)))
      #expect(try stored() == [0, 1, 5, 7])
    }
  }
}
