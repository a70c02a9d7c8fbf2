import Concord
import ConcordTestShared
import Foundation
import Synchronization
import Testing

@testable import ConcordPersistence

@Suite("Live queries with large results", .serialized)
struct LargeQueryTests {
  /// Two views of one store, each of its own process as far as they know, and contexts of the first.
  private struct World {
    let coordinator: PersistentStoreCoordinator
    let other: PersistentStoreCoordinator
    let view: ViewContext

    static func with(_ kind: StoreKind, _ model: Model, _ body: (World) throws -> Void) throws {
      try withFolder { folder in
        let store = try kind.open(model, in: folder)
        let second = kind == .memory ? store : try kind.open(model, in: folder)
        defer {
          try? store.close()
          try? second.close()
        }
        let (coordinator, other) = (PersistentStoreCoordinator(model: model), PersistentStoreCoordinator(model: model))
        try coordinator.attach(store, configuration: "")
        try other.attach(second, configuration: "")
        let view = ViewContext(parent: coordinator, delivery: .immediate) { Issue.record($0) }
        try body(World(coordinator: coordinator, other: other, view: view))
      }
    }

    func settle() {
      other.settle()
      coordinator.settle()
    }
  }

  private func predicate(_ random: inout SeededGenerator) -> Predicate<Review>? {
    let (stars, text) = (Int.random(in: 0..<5, using: &random), random.pick(["a", "b", "c"]))
    let ids = (0..<3).map { _ in Int.random(in: 0..<3_000, using: &random) }
    let predicates: [Predicate<Review>?] = [
      nil, #Predicate<Review> { $0.stars == stars }, #Predicate<Review> { $0.stars == nil },
      #Predicate<Review> { $0.id == stars * 100 }, #Predicate<Review> { $0.stars == stars && $0.text == text },
      #Predicate<Review> { $0.stars == stars || $0.text == text }, #Predicate<Review> { ids.contains($0.id) },
      #Predicate<Review> { $0.id > stars * 500 }, #Predicate<Review> { $0.stars != stars },
      #Predicate<Review> { $0.stars == stars && $0.text.contains(text) },
      #Predicate<Review> { $0.stars == stars && $0.stars == 2 },
    ]
    return random.pick(predicates)
  }

  @Test(
    "After each step every result is that of a fetch, and what changed makes it of the one before",
    arguments: StoreKind.allCases)
  func random(_ kind: StoreKind) throws {
    let seed = TestOptions.seed()
    var random = SeededGenerator(seed: seed)
    try World.with(kind, Model("Reviews", entities: [Review.self])) { world in
      let (coordinator, view) = (world.coordinator, world.view)
      var queries: [(descriptor: FetchDescriptor<Review>, live: EntityObserver<[Review]>, last: QueryResult<Review>)] =
        []
      let contexts = [coordinator.newContext(), coordinator.newContext(), world.other.newContext()]
      func review(_ id: Int) -> Review {
        Review(id: id, text: random.pick(["a", "b", "c", "abc"]), stars: random.pick([nil, 0, 1, 2, 3, 4]))
      }
      for step in 0..<(TestOptions.isLong ? 1_500 : 70) {
        let comment: Comment = "CONCORD_RANDOM_SEED=\(seed): \(kind), step \(step)"
        if queries.count < 12 {
          let descriptor = FetchDescriptor(
            predicate: predicate(&random),
            sortBy: random.pick([
              [], [SortDescriptor(\.stars)], [SortDescriptor(\.text, order: .reverse)],
              [SortDescriptor(\.stars, order: .reverse), SortDescriptor(\.text)],
            ]), fetchLimit: random.pick([nil, nil, 5, 300]), fetchOffset: random.pick([nil, nil, 3, 200]))
          let live = try view.query(descriptor)
          queries.append((descriptor, live, try #require(live.unconverted(QueryResult<Review>.self)?.value)))
        } else if Bool.random(using: &random) {
          queries.remove(at: Int.random(in: queries.indices, using: &random))
        }
        let context = random.pick(contexts)
        let count = random.pick([1, 1, 1, 10, step < 5 ? 1_500 : 150])
        let first = Int.random(in: 0..<3_000, using: &random)
        let ids = first..<first + count
        switch Int.random(in: 0..<8, using: &random) {
        case 0..<3: for id in ids { context.insert(review(id)) }
        case 3: for id in ids { try context.delete(Review.self, id: id) }
        case 4:
          let stars = Int.random(in: 0..<5, using: &random)
          for id in ids { try context.update(Review.self, id: id) { $0.stars = stars } }
        case 5: for id in ids.prefix(5) { view.insert(review(id)) }
        case 6: for id in ids.prefix(5) { try view.delete(Review.self, id: id) }
        default: if Bool.random(using: &random) { try view.save() } else { view.rollback() }
        }
        if Bool.random(using: &random) { try context.save() }
        world.settle()
        // What another process has written is told when it was seen.
        if kind != .memory, context === contexts[2] { Thread.sleep(forTimeInterval: 0.15) }
        world.settle()
        for (index, query) in queries.enumerated() {
          let wanted = try view.fetch(query.descriptor)
          let isRight = query.live.value == wanted
          #expect(isRight, comment)
          let result = try #require(query.live.unconverted(QueryResult<Review>.self)?.value)
          let difference = result.difference(from: query.last)
          let isApplied = query.last.items.applying(difference) == wanted
          #expect(isApplied, comment)
          queries[index].last = result
          if !isRight || !isApplied { return }
        }
        #expect(view.store._checkInvariants().isEmpty, comment)
      }
    }
  }

  // MARK: Costs

  private struct Work: Equatable {
    /// How often somebody looked at the id of an entity.
    var looks = 0
    /// Rows that were read.
    var reads = 0
  }

  /// What a few saves cost beside a result of so many entities, of which somebody follows the differences.
  private func work(_ count: Int, limit: Int? = nil, _ change: (BackgroundContext) throws -> Void) throws -> Work {
    let rows = CountingStore()
    let coordinator = PersistentStoreCoordinator(model: try Model("Cards", entities: [Card.self]))
    try coordinator.attach(rows, configuration: "")
    let view = ViewContext(parent: coordinator, delivery: .immediate) { Issue.record($0) }
    let context = coordinator.newContext()
    for id in 0..<count { context.insert(Card(number: id, rank: id * 10)) }
    try context.save()
    coordinator.settle()
    let live = try view.query(FetchDescriptor<Card>(sortBy: [SortDescriptor(\.rank)], fetchLimit: limit))
    let results = try #require(live.unconverted(QueryResult<Card>.self))
    let last = results.value
    Card.looks.withLock { $0 = 0 }
    rows.reads.withLock { $0 = 0 }
    try change(context)
    coordinator.settle()
    #expect(!results.value.difference(from: last).isEmpty)
    let work = Work(looks: Card.looks.withLock { $0 }, reads: rows.reads.withLock { $0 })
    #expect(live.value == (try view.fetch(FetchDescriptor<Card>(sortBy: [SortDescriptor(\.rank)], fetchLimit: limit))))
    return work
  }

  @Test("What enters, moves, changes and leaves costs the same in a result of 1,000 and of 16,000")
  func growth() throws {
    func change(_ context: BackgroundContext) throws {
      for (step, rank) in [505, 5, 3_333, 9_995, 15].enumerated() {
        context.insert(Card(number: -1 - step, rank: rank))
        try context.save()
        try context.update(Card.self, id: 100 + step) { $0.rank = 9_000 - rank }
        try context.save()
        try context.delete(Card.self, id: 300 + step)
        try context.save()
        try context.update(Card.self, id: 400 + step) { $0.rank += 1 }
        try context.save()
      }
    }
    let few = try work(1_000, change)
    let many = try work(16_000, change)
    // Several saves may be shown at once, which spares some reading.
    #expect(many.looks <= few.looks * 2 && few.looks > 0, "\(few), \(many)")
    #expect(many.reads <= few.reads * 2)
  }

  @Test("Following the differences of a result makes no array of it until somebody asks for one")
  func differences() async throws {
    let coordinator = PersistentStoreCoordinator(model: try Model("Cards", entities: [Card.self]))
    try coordinator.attach(MemoryStore(name: "cards"), configuration: "")
    let view = ViewContext(parent: coordinator, delivery: .immediate) { Issue.record($0) }
    let context = coordinator.newContext()
    for id in 0..<2_000 { context.insert(Card(number: id, rank: id * 10)) }
    try context.save()
    coordinator.settle()
    let live = try view.query(FetchDescriptor<Card>(sortBy: [SortDescriptor(\.rank)]))
    let life = try #require(live.unconverted(QueryResult<Card>.self)?.value.life)
    var cards: [Card] = []
    var iterator = live.changes.makeAsyncIterator()
    func next() async throws -> CollectionDifference<Card> {
      let difference = try #require(await iterator.next())
      cards = try #require(cards.applying(difference))
      return difference
    }
    #expect(try await next().count == 2_000)
    for step in 0..<6 {
      switch step % 3 {
      case 0: context.insert(Card(number: -1 - step, rank: step * 3_333))
      case 1: try context.update(Card.self, id: 100 + step) { $0.rank = 9_001 }
      default: try context.delete(Card.self, id: 300 + step)
      }
      try context.save()
      coordinator.settle()
      #expect(try await next().count <= 2)
    }
    #expect(life.makings.load(ordering: .relaxed) == 0)
    #expect(live.value == cards)
    #expect(life.makings.load(ordering: .relaxed) > 0)
  }

  @Test("A save beside many queries reads and looks at as much as beside one, where none is concerned")
  func besideQueries() throws {
    func work(_ count: Int) throws -> Work {
      let rows = CountingStore()
      let coordinator = PersistentStoreCoordinator(model: try Model("Cards", entities: [Card.self]))
      try coordinator.attach(rows, configuration: "")
      let view = ViewContext(parent: coordinator, delivery: .immediate) { Issue.record($0) }
      let queries = try (0..<count).map { number in
        try view.query(FetchDescriptor<Card>(predicate: #Predicate { $0.rank == number && $0.number >= 0 }))
      }
      let context = coordinator.newContext()
      // The first save of a context is dearer.
      context.insert(Card(number: 1, rank: -1))
      try context.save()
      coordinator.settle()
      Card.looks.withLock { $0 = 0 }
      rows.reads.withLock { $0 = 0 }
      for id in 0..<10 {
        context.insert(Card(number: id, rank: -id - 1))
        try context.save()
        coordinator.settle()
      }
      let work = Work(looks: Card.looks.withLock { $0 }, reads: rows.reads.withLock { $0 })
      context.insert(Card(number: 5, rank: count - 1))
      try context.save()
      coordinator.settle()
      #expect(queries.last?.value.map(\.number) == [5])
      return work
    }
    #expect(try work(1) == work(500))
  }

  @Test("Queries are found by all that they compare, and by what they know")
  func found() throws {
    let coordinator = PersistentStoreCoordinator(model: try Model("Cards", entities: [Card.self]))
    try coordinator.attach(MemoryStore(name: "cards"), configuration: "")
    let view = ViewContext(parent: coordinator, delivery: .immediate) { Issue.record($0) }
    let ranks = [7, 9]
    let conditions: [Predicate<Card>] = [
      #Predicate<Card> { $0.rank == 1 }, #Predicate<Card> { $0.number == 1 || $0.rank == 2 },
      #Predicate<Card> { ranks.contains($0.rank) },
      #Predicate<Card> { $0.rank == 1 && $0.number == 1 }, #Predicate<Card> { !($0.rank == 1) },
      #Predicate<Card> { $0.rank > 5 },
    ]
    let queries = try conditions.map { try view.query(FetchDescriptor<Card>(predicate: $0)) }
    func expect(_ shown: [[Int]]) { #expect(queries.map { $0.value.map(\.number) } == shown) }
    view.insert(Card(number: 1, rank: 1))
    expect([[1], [1], [], [1], [], []])
    view.insert(Card(number: 2, rank: 2))
    expect([[1], [1, 2], [], [1], [2], []])
    try view.update(Card.self, id: 1) { $0.rank = 9 }
    expect([[], [1, 2], [1], [], [1, 2], [1]])
    try view.update(Card.self, id: 2) { $0.rank = 3 }
    expect([[], [1], [1], [], [1, 2], [1]])
    try view.delete(Card.self, id: 1)
    expect([[], [], [], [], [2], []])
    view.rollback()
    expect([[], [], [], [], [], []])
  }
}

/// Counts how often its id is looked at, in one test at a time.
private struct Card: PersistentEntity, Equatable {
  let number: Int
  var rank: Int

  var id: Int {
    Self.looks.withLock { $0 += 1 }
    return number
  }

  static let looks = Locked(0)
  static let persistentProperties: [PersistentProperty<Card>] = [
    .init("id", \.id), .init("number", \.number), .init("rank", \.rank),
  ]
  init(from row: inout RowReader) throws {
    _ = try row.read() as Int
    self.init(number: try row.read(), rank: try row.read())
  }
  func write(to row: inout RowWriter) throws {
    try row.write(number)
    try row.write(number)
    try row.write(rank)
  }
  init(number: Int, rank: Int) { (self.number, self.rank) = (number, rank) }
}
