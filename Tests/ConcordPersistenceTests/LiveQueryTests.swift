import Concord
import ConcordTestShared
import Foundation
import Testing

@testable import ConcordPersistence

@Suite("Live queries")
struct LiveQueryTests {
  @Test("A result gains and loses what a save changes, within its limit", arguments: StoreKind.combinations)
  func limit(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
    guard strategy.isKeptUpToDate else { return }
    try await strategy.withContainer(kind) { container in
      let context = container.newBackgroundContext()
      for id in 0..<100 { context.insert(Review(id: id, text: "", stars: id)) }
      try context.save()
      try await container.flush()
      let top = try container.viewContext.query(
        FetchDescriptor<Review>(
          predicate: #Predicate { ($0.stars ?? 0) >= 10 }, sortBy: [SortDescriptor(\.id)], fetchLimit: 3, fetchOffset: 1
        ))
      #expect(top.value.map(\.id) == [11, 12, 13])
      // Leaves, enters through the limit, moves.
      try context.update(Review.self, id: 12) { $0.stars = nil }
      try context.update(Review.self, id: 3) { $0.stars = 50 }
      try context.save()
      try await container.flush()
      #expect(top.value.map(\.id) == [10, 11, 13])
      try context.delete(Review.self, id: 10)
      try context.save()
      try await container.flush()
      #expect(top.value.map(\.id) == [11, 13, 14])
      // All that is known goes.
      for id in 11..<80 { try context.delete(Review.self, id: id) }
      try context.save()
      try await container.flush()
      #expect(top.value.map(\.id) == [80, 81, 82])
      // What only the view has changed counts too.
      container.viewContext.insert(Review(id: 81, text: "new", stars: 1))
      #expect(top.value.map(\.id) == [80, 82, 83])
      container.viewContext.rollback()
      #expect(top.value.map(\.id) == [80, 81, 82])
    }
  }

  @Test("The difference of each change makes the new result of the one before", arguments: StoreKind.allCases)
  func changes(_ kind: StoreKind) async throws {
    try await StrategyKind.direct.withContainer(kind) { container in
      let all = try container.viewContext.query(FetchDescriptor<Review>())
      let shown = Locked<[Review]>([])
      let task = Task {
        var reviews: [Review] = []
        for await difference in all.changes {
          guard let next = reviews.applying(difference) else { return false }
          reviews = next
          shown.withLock { $0 = next }
        }
        return true
      }
      let context = container.newBackgroundContext()
      for step in 0..<30 {
        context.insert(Review(id: step * 7 % 10, text: "\(step)"))
        if step % 3 == 0 { try context.delete(Review.self, id: step * 7 % 10) }
        try context.save()
        try await container.flush()
        let value = all.value
        #expect(try await eventually { shown.withLock { $0 } == value })
      }
      task.cancel()
      #expect(await task.value)
    }
  }

  @Test("Nobody's query is followed no longer, and nothing of it stays")
  func released() async throws {
    try await StrategyKind.direct.withContainer(.memory) { container in
      let view = container.viewContext
      for id in 0..<20 { view.insert(Review(id: id, text: "")) }
      try view.save()
      var query: EntityObserver<[Review]>? = try view.query(FetchDescriptor<Review>(fetchLimit: 5))
      #expect(query?.value.count == 5)
      // With the result, its branch and its leaf.
      #expect(view.store._statistics().entities == 8)
      query = nil
      #expect(view.store._statistics().entities == 0)
      view.insert(Review(id: 30, text: ""))
      #expect(view.queries.isEmpty)
    }
  }

  @Test(
    "A query leaves out an entity for which its predicate has no answer, tells that once, and disturbs no other",
    arguments: StoreKind.allCases)
  func throwingPredicate(_ kind: StoreKind) async throws {
    let errors = Locked(0)
    try await StrategyKind.direct.withContainer(kind) { _ in
      errors.withLock { $0 += 1 }
    } _: { container in
      let (view, context) = (container.viewContext, container.newBackgroundContext())
      context.insert(Review(id: 1, text: "one", stars: 1))
      try context.save()
      let rated = try view.query(FetchDescriptor<Review>(predicate: #Predicate { $0.stars! > 0 }))
      let all = try view.query(FetchDescriptor<Review>())
      let first = try #require(try view.find(Review.self, id: 1))
      context.insert(Review(id: 2, text: "two"))
      try context.update(Review.self, id: 1) { $0.text = "changed" }
      try context.save()
      try await container.flush()
      #expect(rated.value.map(\.id) == [1] && errors.withLock { $0 } == 1)
      #expect(all.value.map(\.id) == [1, 2] && first.value.text == "changed")
      // Tried again, and not told again.
      try context.update(Review.self, id: 1) { $0.text = "once more" }
      try context.save()
      try await container.flush()
      #expect(rated.value.map(\.text) == ["once more"] && errors.withLock { $0 } == 1)
      try context.update(Review.self, id: 2) { $0.stars = 2 }
      try context.save()
      try await container.flush()
      #expect(rated.value.map(\.id) == [1, 2])
    }
  }

  @Test(
    "A query whose predicate begins to have no answer tells the error that a fetch throws",
    arguments: StoreKind.allCases)
  func throwingInStore(_ kind: StoreKind) async throws {
    let told = Locked<[any Error]>([])
    try await StrategyKind.direct.withContainer(kind) { error in
      told.withLock { $0.append(error) }
    } _: { container in
      let (view, context) = (container.viewContext, container.newBackgroundContext())
      context.insert(Review(id: 1, text: "one"))
      try context.save()
      let least = Int.max - 1
      let large = FetchDescriptor<Review>(predicate: #Predicate { $0.id + least > 0 })
      let query = try view.query(large)
      #expect(query.value.map(\.id) == [1])
      context.insert(Review(id: 2, text: "two"))
      try context.save()
      try await container.flush()
      #expect(query.value.map(\.id) == [1])
      do {
        _ = try context.fetch(large)
        Issue.record("it does not throw")
      } catch {
        let found = told.withLock { $0.map { "\(type(of: $0)) \($0)" } }
        #expect(found == ["\(type(of: error)) \(error)"])
      }
    }
  }

  @Test("Observers of a result are told once for each save that changes it, and else not")
  func notices() async throws {
    try await StrategyKind.usersOwn.withContainer(.memory) { container in
      let told = Locked<[[Int]]>([])
      let low = try container.viewContext.query(
        FetchDescriptor<Review>(predicate: #Predicate { $0.id < 10 }))
      let subscription = low.observe { reviews in told.withLock { $0.append(reviews.map(\.id)) } }
      let context = container.newBackgroundContext()
      for ids in [[1, 2, 20], [30], [3], [40]] {
        for id in ids { context.insert(Review(id: id, text: "")) }
        try context.save()
        try await container.flush()
      }
      #expect(told.withLock { $0 } == [[], [1, 2], [1, 2, 3]])
      subscription.unsubscribe()
    }
  }

  @Test("The sections of a query are asked for on one line")
  func sectionsOnOneLine() async throws {
    try await StrategyKind.direct.withContainer(.memory, model: essayModel()) { container in
      let view = container.viewContext
      for id in 0..<4 { view.insert(Essay(id, "\(id)", year: 2_000 - id / 3)) }
      try view.save()
      let years = try view.query(FetchDescriptor<Essay>(sortBy: [SortDescriptor(\.year)])).sections(by: \.year)
      #expect(years.value.map { $0.elements.map(\.id) } == [[3], [0, 1, 2]])
      let groups = try view.query(FetchDescriptor<Essay>()).group(by: \.text)
      #expect(groups.value.map(\.elements.count) == [4])
    }
  }

  @Test("Sections cost what changes in the result, and are told once", arguments: StoreKind.allCases)
  func sections(_ kind: StoreKind) async throws {
    try await StrategyKind.direct.withContainer(kind) { container in
      let context = container.newBackgroundContext()
      for id in 0..<1_000 { context.insert(Review(id: id, text: "\(id)", stars: id % 5)) }
      try context.save()
      try await container.flush()
      let looks = Locked(0)
      let query = try container.viewContext.query(FetchDescriptor<Review>(sortBy: [SortDescriptor(\.id)]))
      let counted = query.map { reviews in
        looks.withLock { $0 += 1 }
        return reviews.count
      }
      let sections = query.sections(by: \.stars)
      #expect(sections.value.map(\.id) == [0, 1, 2, 3, 4] && counted.value == 1_000)
      #expect(sections.value[key: 3].count == 200)
      let told = Locked<[[Int]]>([])
      let subscription = sections.observe { value in told.withLock { $0.append(value.map(\.elements.count)) } }
      try context.update(Review.self, id: 0) { $0.stars = 3 }
      try context.save()
      try await container.flush()
      await container.viewContext.store.settled()
      #expect(told.withLock { $0 } == [[200, 200, 200, 200, 200], [201, 200, 200, 200, 199]])
      #expect(sections.value.map(\.id) == [3, 1, 2, 4, 0] && sections.value == query.group(by: \.stars).value)
      // What is no result of a query has sections, too.
      let array = query.map { Array($0.reversed()) }
      #expect(array.sections(by: \.stars).value.map(\.id) == [4, 3, 2, 1, 0])
      withExtendedLifetime(subscription) {}
    }
  }

  // MARK: Random operations

  private typealias Query = (
    descriptor: FetchDescriptor<Sample>, result: EntityObserver<[Sample]>,
    sections: EntityObserver<EntitySections<Int, Sample>>
  )

  /// What all equal values look like; NaN is not equal to itself.
  private func looks(_ sample: Sample) -> String {
    "\(sample)".replacing("-0.0", with: "0.0").canonicallyComposed
  }

  @Test("After each step every query shows what a fetch gives", arguments: StoreKind.combinationsOfManySteps)
  func random(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
    guard strategy.isKeptUpToDate else { return }
    let seed = TestOptions.seed()
    // Each step compares every query with a fetch, which is slow.
    let worlds = min(max(1, (TestOptions.steps ?? 0) / 15_000), 100)
    let model = try Model("M", entities: [Sample.self, Author.self, Review.self])
    var random = SeededGenerator(seed: seed)
    for world in 0..<worlds {
      let folder = FileManager.default.temporaryDirectory.appending(path: "concord-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      let errors = Locked<[String]>([])
      let container = strategy.container(model) { error in errors.withLock { $0.append("\(error)") } }
      let store = try container.attachPersistentStore(at: folder, for: StoreConfiguration(type: kind.type))
      defer { try? container.detach(persistentStore: store) }
      let contexts = (0..<2).map { _ in container.newBackgroundContext() }
      let view = container.viewContext
      var queries: [Query] = []
      for step in 0..<(TestOptions.isLong || worlds > 1 ? 150 : 30) {
        let comment: Comment = "CONCORD_RANDOM_SEED=\(seed): world \(world), step \(step)"
        let context = random.pick(contexts)
        let id = Int.random(in: 0..<60, using: &random)
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<3: context.insert(Sample(id: id, &random))
        case 3: for id in id..<id + 20 { context.insert(Sample(id: id, &random)) }
        case 4: try context.delete(Sample.self, id: id)
        case 5: for id in id..<id + 20 { try context.delete(Sample.self, id: id) }
        case 6:
          let other = Sample(id: id, &random)
          try context.update(Sample.self, id: id) {
            $0.number = other.number
            $0.indexed = other.indexed
            $0.owner = other.owner
          }
        case 7: try context.update(Author.self, id: "a") { $0.name = random.pick(["A", "B"]) }
        case 8: view.insert(Sample(id: id, &random))
        case 9: try view.update(Sample.self, id: id) { $0.indexed = Int.random(in: 0..<5, using: &random) }
        case 10: if Bool.random(using: &random) { try view.save() } else { view.rollback() }
        default:
          if queries.count < 4 {
            let predicate: Predicate<Sample>? = random.pick([
              nil, #Predicate { $0.indexed < 3 }, #Predicate { $0.owner.name == "A" },
              #Predicate { $0.flag && $0.text.contains("m") }, #Predicate { $0.number >= 0 || $0.indexed == 4 },
            ])
            let order: [SortDescriptor<Sample>] = random.pick([
              [], [SortDescriptor(\.indexed)], [SortDescriptor(\.text), SortDescriptor(\.number, order: .reverse)],
              [SortDescriptor(\.owner.name, order: .reverse)], [SortDescriptor(\.optional)],
            ])
            let descriptor = FetchDescriptor(
              predicate: predicate, sortBy: order, fetchLimit: random.pick([nil, 0, 1, 5, 20]),
              fetchOffset: random.pick([nil, 0, 2, 10]))
            let query = try view.query(descriptor)
            queries.append((descriptor, query, query.sections(by: \.indexed)))
          } else {
            queries.remove(at: Int.random(in: queries.indices, using: &random))
          }
        }
        if Bool.random(using: &random) { try context.save() }
        try await container.flush()
        #expect(errors.withLock { $0 }.isEmpty, comment)
        for (descriptor, observer, sections) in queries {
          let wanted = try view.fetch(descriptor)
          let keys = wanted.map(\.indexed).reduce(into: [Int]()) { if !$0.contains($1) { $0.append($1) } }
          #expect(sections.value.map(\.id) == keys, comment)
          #expect(
            sections.value.map { $0.elements.map(looks) }
              == keys.map { key in
                wanted.filter { $0.indexed == key }.map(looks)
              }, comment)
          #expect(observer.value.map(\.id) == wanted.map(\.id), comment)
          #expect(observer.value.map(looks) == wanted.map(looks), comment)
          if observer.value.map(looks) != wanted.map(looks) { return }
        }
        #expect(view.store._checkInvariants().isEmpty, comment)
      }
    }
  }
}
