import Concord
import Foundation
import Synchronization
import Testing

@testable import ConcordPersistence

@Suite("Live searches")
struct LiveSearchTests {
  @Test("Hits come and go with saves, and with what the view has changed", arguments: StoreKind.combinations)
  func live(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
    guard strategy.isKeptUpToDate else { return }
    try await strategy.withContainer(kind, model: essayModel()) { container in
      let context = container.newBackgroundContext()
      for id in 0..<20 { context.insert(Essay(id, "Number \(id)", id % 2 == 0 ? "even" : "odd", year: id)) }
      context.insert(Essay(100, "The Red Pony", "by Steinbeck"))
      context.insert(Essay(101, "The Pearl", "by STEINBECK"))
      try context.save()
      try await container.flush()
      let view = container.viewContext
      let hits = try view.search("steinb* -pearl", in: Essay.self)
      let two = try view.search("even", in: Essay.self, where: #Predicate { $0.year > 3 }, limit: 2)
      #expect(hits.value.map(\.id) == [100])
      #expect(two.value.map(\.id) == [4, 6])
      #expect(hits.value.first?.snippets.map { $0.marked("[", "]") } == ["by [Steinbeck]"])
      #expect(hits.value.first?.snippet(of: "title")?.text == "The Red Pony")
      let seen = Locked<[EntityDifference<SearchHit<Essay>>]>([])
      let subscription = hits.observeDifferences { difference in seen.withLock { $0.append(difference) } }
      // A better hit comes first, another is no hit any longer.
      context.insert(Essay(102, "Steinbeck, Steinbeck", "Steinbeck"))
      try context.update(Essay.self, id: 4) { $0.text = "odd" }
      try context.update(Essay.self, id: 101) { $0.title = "The Moon" }
      try context.save()
      try await container.flush()
      #expect(hits.value.map(\.id) == [102, 100, 101])
      #expect(hits.value[0].rank > hits.value[1].rank)
      #expect(two.value.map(\.id) == [6, 8])
      // What only the view has changed counts too.
      try view.update(Essay.self, id: 100) { $0.text = "by nobody" }
      view.insert(Essay(3, "even even", "even", year: 9))
      #expect(hits.value.map(\.id) == [102, 101])
      #expect(two.value.map(\.id) == [3, 6])
      view.rollback()
      #expect(hits.value.map(\.id) == [102, 100, 101])
      #expect(two.value.map(\.id) == [6, 8])
      #expect(try await eventually { seen.withLock { $0.count } > 1 })
      _ = subscription
    }
  }

  @Test(
    "Following the differences of a search makes no array of its hits until somebody asks for one",
    arguments: [false, true])
  func differences(isLayered: Bool) async throws {
    let coordinator = PersistentStoreCoordinator(model: try essayModel())
    try coordinator.attach(MemoryStore(name: "essays"), configuration: "")
    let view = ViewContext(parent: coordinator, delivery: .immediate) { Issue.record($0) }
    if isLayered { view.followLayers() }
    let context = coordinator.newContext()
    for id in 0..<1_000 { context.insert(Essay(id, "Number \(id)", id % 2 == 0 ? "even" : "odd")) }
    try context.save()
    coordinator.settle()
    let hits = try view.search("even", in: Essay.self)
    let stored = hits.unconverted(FoundHits<QueryResult<Essay>>.self)?.value.found
    #expect((stored == nil) == isLayered)
    var shown: [SearchHit<Essay>] = []
    var iterator = hits.changes.makeAsyncIterator()
    func next() async throws -> CollectionDifference<SearchHit<Essay>> {
      let difference = try #require(await iterator.next())
      shown = try #require(shown.applying(difference))
      return difference
    }
    #expect(try await next().count == 500)
    for step in 0..<6 {
      switch step % 3 {
      case 0: context.insert(Essay(2_000 + step, "even even"))
      case 1: try context.update(Essay.self, id: 101 + 2 * step) { $0.text = "even" }
      default: try context.update(Essay.self, id: 300 + 2 * step) { $0.text = "odd" }
      }
      try context.save()
      coordinator.settle()
      #expect(try await next().count == 1)
    }
    if let stored { #expect(stored.life.makings.load(ordering: .relaxed) == 0) }
    #expect(shown.map(\.id) == hits.value.map(\.id) && shown == hits.value)
    #expect(shown.first?.snippets.first?.marked("[", "]") == "[even] [even]")
  }

  @Test("A type without searchable texts has no search, and a number is none")
  func unsearchable() async throws {
    try await StrategyKind.direct.withContainer(.memory) { container in
      #expect(throws: StoreError.self) { try container.viewContext.search("a", in: Review.self) }
      let none = try container.viewContext.fetch(FetchDescriptor(predicate: Review.matching("a")))
      #expect(none.isEmpty)
    }
    struct Wrong: PersistentEntity {
      let id: Int
      static let persistentProperties: [PersistentProperty<Wrong>] = [.init("id", \.id, .searchable)]
      init(from row: inout RowReader) throws { id = try row.read() }
      func write(to row: inout RowWriter) throws { try row.write(id) }
    }
    #expect(throws: StoreError.self) { try Model("Wrong", entities: [Wrong.self]) }
  }
}
