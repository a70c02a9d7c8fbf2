import Concord
import ConcordModel
import Dispatch
import Foundation
import Testing

@testable import ConcordPersistence

@Suite("Lasting: what other contexts have not saved")
struct RetentionPendingTests {
  @Test("A purge leaves what any context of the container has not saved", arguments: StoreKind.combinations)
  func others(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
    try await strategy.withContainer(kind) { container in
      let purging = container.newBackgroundContext()
      for id in 0..<10 { purging.insert(Review(id: id, text: "old")) }
      purging.insert(Book(id: "b", title: "", author: Author(id: "x", name: "X")))
      try purging.save()
      try await container.flush()
      var (first, second): (BackgroundContext?, BackgroundContext) = (
        container.newBackgroundContext(), container.newBackgroundContext()
      )
      try first?.update(Review.self, id: 1) { $0.text = "new" }
      try second.update(Review.self, id: 2) { $0.text = "new" }
      try second.update(Book.self, id: "b") { $0.reviews.append(Review(id: 3, text: "old")) }
      #expect(try purging.purge(Review.self, keeping: .atMost(0)) == 7)
      try container.keep(Review.self, .matching(#Predicate { $0.id > 9 }))
      try container.keepAll(Review.self)
      #expect(try purging.fetch(FetchDescriptor<Review>()).map(\.id) == [1, 2, 3])
      // What is taken back, or goes with its context, is not pending any longer.
      first = nil
      second.rollback()
      try second.update(Review.self, id: 3) { $0.text = "new" }
      #expect(try container.viewContext.purge(Review.self, keeping: .atMost(0)) == 2)
      try second.save()
      // Also while an indirect strategy has not written it.
      #expect(try purging.purge(Review.self, keeping: .matching(#Predicate { $0.text == "new" })) == 0)
      try await container.flush()
      #expect(try container.stored(Review.self, id: 3)?.text == "new")
    }
  }

  @Test(
    "A purge waits for no block of another context, and leaves what it has changed", arguments: StoreKind.combinations)
  func blocks(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
    try await strategy.withContainer(kind) { container in
      let contexts = (0..<2).map { _ in container.newBackgroundContext() }
      for id in 0..<10 { contexts[0].insert(Review(id: id, text: "old")) }
      try contexts[0].save()
      try await container.flush()
      // Both purge within their blocks, each while the other's runs.
      let (hasChanged, hasPurged) = (Rendezvous(2), Rendezvous(2))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (id, context) in contexts.enumerated() {
          group.addTask {
            try await context.perform { context in
              try context.update(Review.self, id: id) { $0.text = "new" }
              guard hasChanged.wait() else { throw StoreError.withoutCoordinator }
              try context.purge(Review.self, keeping: .atMost(0))
              guard hasPurged.wait() else { throw StoreError.withoutCoordinator }
              try context.save()
            }
          }
        }
        try await group.waitForAll()
      }
      try await container.flush()
      let found = try container.newBackgroundContext().fetch(FetchDescriptor<Review>())
      #expect(found.map(\.id) == [0, 1] && found.allSatisfy { $0.text == "new" })
    }
  }

  @Test("Contexts that are released are forgotten")
  func released() async throws {
    try await StrategyKind.direct.withContainer(.memory) { container in
      let guards = container.persistentStoreCoordinator.guards
      let before = guards.all.count
      let kept = container.newBackgroundContext()
      kept.insert(Review(id: -1, text: ""))
      for id in 0..<1_000 {
        let context = container.newBackgroundContext()
        // One that only reads is no guard.
        _ = try context.find(Review.self, id: id)
        #expect(guards.all.count == before + 1)
        context.insert(Review(id: id, text: ""))
        #expect(guards.all.count == before + 2)
      }
      #expect(guards.all.count == before + 1 && guards.references <= 64, "\(guards.references)")
      try kept.save()
    }
  }
}

/// A place where threads wait for each other.
private final class Rendezvous: Sendable {
  private let missing: Locked<Int>
  private let arrived = DispatchSemaphore(value: 0)
  private let count: Int

  init(_ count: Int) { (missing, self.count) = (Locked(count), count) }

  /// - Returns: whether all came within a time.
  func wait() -> Bool {
    let isLast = missing.withLock { missing in
      missing -= 1
      return missing == 0
    }
    if isLast { for _ in 1..<count { arrived.signal() } }
    return isLast || arrived.wait(timeout: .now() + 20) == .success
  }
}
