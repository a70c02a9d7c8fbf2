import Concord
import ConcordModel
import Foundation
import Testing

@testable import ConcordPersistence

@Suite("Lasting: one user's store after another's")
struct RetentionUsersTests {
  /// A container whose reviews are in a store of each user.
  private func withUsers(
    _ kind: StoreKind, _ body: (any PersistentContainer, (String) throws -> PersistentStore) async throws -> Void
  ) async throws {
    let model = try Model("Library", entities: [Author.self], configurations: ["Users": [Review.self]])
    try await StrategyKind.direct.withContainer(kind, model: model) { container in
      let folder = FileManager.default.temporaryDirectory.appending(path: "concord-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      try await body(container) { user in
        try container.attachPersistentStore(
          at: folder, for: StoreConfiguration(fileName: user, name: "Users", type: kind.type))
      }
    }
  }

  private func store(_ ids: Range<Int>, in container: any PersistentContainer) throws {
    let context = container.newBackgroundContext()
    for id in ids { context.insert(Review(id: id, text: "\(id)"), modifiedAt: Double(id)) }
    try context.save()
  }

  @Test("What one user has found says nothing of the other's entities", arguments: StoreKind.allCases, [false, true])
  func uses(_ kind: StoreKind, _ isSecondFirst: Bool) async throws {
    try await withUsers(kind) { container, attach in
      let first = try attach("first")
      try container.keep(Review.self, .atMost(100))
      try store(0..<10, in: container)
      for id in 0..<3 { #expect(try container.viewContext.find(Review.self, id: id) != nil) }
      var second: PersistentStore?
      if isSecondFirst { second = try attach("second") }
      try container.detach(persistentStore: first)
      let attached = try second ?? attach("second")
      try store(0..<10, in: container)
      let context = container.newBackgroundContext()
      #expect(try context.purge(Review.self, keeping: .atMost(2)) == 8)
      #expect(try context.fetch(FetchDescriptor<Review>()).map(\.id) == [8, 9])
      // What is found from now on counts.
      try store(10..<12, in: container)
      #expect(try container.viewContext.find(Review.self, id: 8) != nil)
      #expect(try context.purge(Review.self, keeping: .atMost(1)) == 3)
      #expect(try context.fetch(FetchDescriptor<Review>()).map(\.id) == [8])
      try container.detach(persistentStore: attached)
    }
  }

  @Test("What a view keeps of one user's store goes with it, and the rule stays", arguments: StoreKind.allCases)
  func kept(_ kind: StoreKind) async throws {
    try await withUsers(kind) { container, attach in
      let view = container.viewContext
      func kept() -> [Int] { view.store.all(Review.self).map(\.id).sorted() }
      try view.keep(Review.self, .atMost(5))
      let first = try attach("first")
      try store(0..<10, in: container)
      for id in 0..<3 { #expect(try view.find(Review.self, id: id) != nil) }
      #expect(kept() == [0, 1, 2])
      try container.detach(persistentStore: first)
      let second = try attach("second")
      try store(0..<10, in: container)
      try await container.flush()
      container.persistentStoreCoordinator.settle()
      #expect(kept() == [])
      let context = container.newBackgroundContext()
      #expect(try context.purge(Review.self, keeping: .atMost(0)) == 10)
      try store(4..<5, in: container)
      #expect(try view.find(Review.self, id: 4)?.value.text == "4")
      #expect(kept() == [4])
      try container.detach(persistentStore: second)
    }
  }
}
