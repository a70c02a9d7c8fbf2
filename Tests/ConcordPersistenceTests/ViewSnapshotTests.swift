import Concord
import Foundation
import Testing

@testable import ConcordPersistence

/// What a view shows at any time is what the stores had at one time, for saves that follow each other closely.
@Suite("Whole commits in the view")
struct ViewSnapshotTests {
  /// Odd saves change the first two of three entities, even saves the last two: so the middle one is always the newest, and the
  /// others differ by one.
  private static func isWhole(_ numbers: [Int]) -> Bool {
    guard numbers.count == 3 else { return false }
    return numbers[1] == max(numbers[0], numbers[2]) && abs(numbers[0] - numbers[2]) == 1
  }

  @Test("A save is shown whole, and nothing of a later one with it", arguments: StoreKind.combinationsOfManySteps)
  func wholeSaves(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
    guard strategy.isKeptUpToDate else { return }
    try await strategy.withContainer(kind) { container in
      let view = container.viewContext
      let first = container.newBackgroundContext()
      for id in 0..<3 { first.insert(Review(id: id, text: "\(id)", stars: id == 0 ? -1 : 0)) }
      try first.save()
      try await container.flush()
      let observers = try (0..<3).map { try #require(try view.find(Review.self, id: $0)) }
      let list = try view.query(FetchDescriptor<Review>(sortBy: [SortDescriptor(\.id)]))
      let contexts = [first, container.newBackgroundContext()]
      let isDone = Locked(false)
      let saving = Task.detached {
        defer { isDone.withLock { $0 = true } }
        for save in 1...300 {
          let context = contexts[save % 2]
          for id in save % 2 == 1 ? [0, 1] : [1, 2] {
            try context.update(Review.self, id: id) { $0.stars = save }
          }
          try context.save()
        }
      }
      var broken: [[Int]] = []
      var states: Set<[Int]> = []
      while !isDone.withLock({ $0 }) {
        // Reading in the view shows what it reads.
        if states.count % 3 == 0 { _ = try view.find(Review.self, id: 1) }
        let shown = view.store.transaction { _ in
          [observers.compactMap(\.value.stars), list.value.compactMap(\.stars)]
        }
        for numbers in shown where !Self.isWhole(numbers) { broken.append(numbers) }
        states.insert(shown[0])
        await Task.yield()
      }
      try await saving.value
      #expect(broken == [])
      #expect(try await eventually { observers.map(\.value.stars) == [299, 300, 300] })
      #expect(list.value.map(\.stars) == [299, 300, 300])
    }
  }

  @Test("What others write to the store reaches a view that is told of nothing else")
  func otherWriters() async throws {
    let (first, second) = (
      PersistentStoreCoordinator(model: try libraryModel()), PersistentStoreCoordinator(model: try libraryModel())
    )
    let rows = MemoryStore(name: "shared")
    try first.attach(rows, configuration: "")
    try second.attach(rows, configuration: "")
    let view = ViewContext(parent: first, delivery: .immediate) { _ in }
    let (mine, theirs) = (BackgroundContext(parent: first), BackgroundContext(parent: second))
    mine.insert(Review(id: 1, text: "one"))
    try mine.save()
    let review = try #require(try view.find(Review.self, id: 1))
    try theirs.update(Review.self, id: 1) { $0.text = "two" }
    try theirs.save()
    #expect(try await eventually { review.value.text == "two" })
  }

  @Test("What was announced is forgotten once it has been told, also where nobody follows or the save fails")
  func announcementsEnd() async throws {
    let coordinator = PersistentStoreCoordinator(model: try libraryModel())
    let rows = MemoryStore(name: "rows")
    try coordinator.attach(rows, configuration: "")
    let context = BackgroundContext(parent: coordinator)
    context.insert(Review(id: 1, text: "one"))
    try context.save()
    #expect(coordinator.announcedChanges.isEmpty)
    let told = Locked<[StoreChange]>([])
    let observation = coordinator.observeChanges { change in told.withLock { $0.append(change) } }
    context.insert(Review(id: 2, text: "two"))
    try context.save()
    coordinator.settle()
    #expect(coordinator.announcedChanges.isEmpty && told.withLock { $0.count } == 1)
    try rows.close()
    context.insert(Review(id: 3, text: "three"))
    #expect(throws: StoreError.self) { try context.save() }
    coordinator.settle()
    #expect(coordinator.announcedChanges.isEmpty)
    withExtendedLifetime(observation) {}
  }
}
