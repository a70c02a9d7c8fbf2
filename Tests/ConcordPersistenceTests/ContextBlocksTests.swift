import Concord
import Foundation
import Testing

@testable import ConcordPersistence

@Suite("Blocks that nobody waits for, and reset")
struct ContextBlocksTests {
  /// Gives blocks without waiting, from a function that is not `async`.
  private func give(_ context: BackgroundContext, _ view: ViewContext, _ log: Locked<[String]>) {
    context.perform { context in context.insert(Review(id: 1, text: "first")) }
    context.perform { log.withLock { $0.append("second") } }
    context.perform(onError: { error in log.withLock { $0.append("\(error)") } }) { context in
      try context.update(Review.self, id: 1) { $0.text = "third" }
      try context.save()
      throw StoreError.locked(store: "context")
    }
    context.perform(onError: { _ in }) { log.withLock { $0.append("fourth") } }
    view.perform { view in view.insert(Review(id: 2, text: "view")) }
    view.perform { log.withLock { $0.append("view") } }
    view.perform(onError: { error in log.withLock { $0.append("\(error)") } }) { view in
      try view.save()
      throw StoreError.locked(store: "view")
    }
    view.perform(onError: { _ in }) { log.withLock { $0.append("last in view") } }
  }

  @Test("Blocks run one after the other, and errors are told", arguments: StoreKind.combinations)
  func blocks(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
    try await strategy.withContainer(kind) { container in
      let log = Locked<[String]>([])
      give(container.newBackgroundContext(), container.viewContext, log)
      #expect(try await eventually { log.withLock { $0.count } == 6 })
      let told = log.withLock { $0 }
      let ofContext = ["second", "\(StoreError.locked(store: "context"))", "fourth"]
      #expect(told.filter(ofContext.contains) == ofContext)
      let ofView = ["view", "\(StoreError.locked(store: "view"))", "last in view"]
      #expect(told.filter(ofView.contains) == ofView)
      try await container.flush()
      #expect(try container.stored(Review.self, id: 1)?.text == "third")
      #expect(try container.stored(Review.self, id: 2)?.text == "view")
    }
  }

  @Test("A reset discards what is not saved, and a view reads again what it shows", arguments: StoreKind.combinations)
  func reset(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
    try await strategy.withContainer(kind) { container in
      let (context, view) = (container.newBackgroundContext(), container.viewContext)
      let others = BackgroundContext(parent: container.persistentStoreCoordinator)
      others.insert(Review(id: 1, text: "old"))
      try others.save()
      let shown = try #require(try view.find(Review.self, id: 1))
      let query = try view.query(FetchDescriptor<Review>())
      try view.update(Review.self, id: 1) { $0.text = "unsaved" }
      context.insert(Review(id: 2, text: "unsaved"))
      others.insert(Review(id: 3, text: "new"))
      try others.update(Review.self, id: 1) { $0.stars = 5 }
      try others.save()
      context.reset()
      #expect(!context.hasChanges)
      view.reset()
      #expect(!view.hasChanges)
      #expect(shown.value == Review(id: 1, text: "old", stars: 5))
      #expect(query.value.map(\.id).sorted() == [1, 3])
      try context.save()
      try view.save()
      try await container.flush()
      #expect(try container.stored(Review.self, id: 2) == nil)
    }
  }
}
