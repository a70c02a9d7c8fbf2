import Concord
import Foundation
import Testing

@testable import ConcordPersistence

/// A file that was written while a clock was wrong.
@Suite("Stamps ahead of the clock")
struct StampsAheadTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let kind: StoreKind
    let strategy: StrategyKind
    let policy: MergePolicy

    var testDescription: String { "\(kind.rawValue), \(strategy), \(policy)" }

    static let all = StoreKind.combinations.flatMap { kind, strategy in
      [MergePolicy.byStamp, .error, .storeTrump, .objectTrump].map { Case(kind: kind, strategy: strategy, policy: $0) }
    }
  }

  private let ahead = Date().stamp + 100_000

  /// A container whose store has reviews 1 to 4 and a book with stamps that are ahead of the clock.
  private func withContainer(_ test: Case, _ body: (any PersistentContainer) async throws -> Void) async throws {
    try await test.strategy.withContainer(test.kind) { container in
      let context = BackgroundContext(parent: container.persistentStoreCoordinator)
      for id in 1...4 { context.insert(Review(id: id, text: "old", stars: id), modifiedAt: ahead) }
      context.insert(
        Book(
          id: "1", title: "old", author: Author(id: "1", name: "old"), reviews: [Review(id: 4, text: "old", stars: 4)]),
        modifiedAt: ahead)
      try context.save()
      container.viewContext.mergePolicy = test.policy
      try await body(container)
    }
  }

  @Test(
    "No stamp is newer than infinity; what is written without one is saved, and leaves it",
    arguments: StoreKind.allCases)
  func infinity(_ kind: StoreKind) async throws {
    try await StrategyKind.direct.withContainer(kind) { container in
      let context = container.newBackgroundContext()
      context.insert(Review(id: 1, text: "first"), modifiedAt: .infinity)
      try context.save()
      #expect(try context.stamp(of: Review.self, id: 1) == .infinity)
      for stamp in [.infinity, .greatestFiniteMagnitude, Date().stamp, .nan] as [Stamp] {
        #expect(try !context.update(Review.self, id: 1, modifiedAt: stamp) { $0.text = "stamped" })
        context.insert(Review(id: 1, text: "stamped"), modifiedAt: stamp)
        try context.save()
      }
      let other = container.newBackgroundContext()
      #expect(try other.find(Review.self, id: 1)?.text == "first")
      for text in ["second", "third"] {
        #expect(try other.update(Review.self, id: 1) { $0.text = text })
        try other.save()
        #expect(try context.find(Review.self, id: 1)?.text == text)
        #expect(try context.stamp(of: Review.self, id: 1) == .infinity)
      }
      #expect(try other.delete(Review.self, id: 1))
      try other.save()
      #expect(try context.find(Review.self, id: 1) == nil)
      context.insert(Review(id: 1, text: "again"))
      try context.save()
      #expect(try other.find(Review.self, id: 1)?.text == "again")
    }
  }

  /// Writes the same without stamps, by a clock that is ahead, and attaches the store again, to a container whose clock is right.
  private func withStoreAttachedAgain(
    _ test: Case, _ body: (any PersistentContainer) async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "concord-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let model = try libraryModel()
    let configuration = StoreConfiguration(type: test.kind.type)
    let wrong = test.strategy.container(model)
    let first = try wrong.attachPersistentStore(at: folder, for: configuration)
    do {
      let coordinator = PersistentStoreCoordinator(model: model, clock: StampSource { Date().stamp + 100_000 })
      try coordinator.attach(first.rows, configuration: "")
      let context = coordinator.newContext()
      for id in 1...4 { context.insert(Review(id: id, text: "old", stars: id)) }
      context.insert(
        Book(
          id: "1", title: "old", author: Author(id: "1", name: "old"), reviews: [Review(id: 4, text: "old", stars: 4)]))
      try context.save()
    }
    try wrong.detach(persistentStore: first)
    let right = test.strategy.container(model)
    let second = try right.attachPersistentStore(at: folder, for: configuration)
    defer { try? right.detach(persistentStore: second) }
    let stamp = try #require(try right.newBackgroundContext().stamp(of: Review.self, id: 1))
    #expect(stamp > Date().stamp + 99_000)
    right.viewContext.mergePolicy = test.policy
    try await body(right)
  }

  @Test("What is changed, inserted and deleted without a stamp is saved", arguments: Case.all)
  func edits(_ test: Case) async throws {
    for inView in [false, true] {
      try await withContainer(test) { try await edit($0, test, inView: inView) }
    }
  }

  @Test(
    "What is changed without a stamp is saved once the clock is right and the store is attached again",
    arguments: Case.all.filter { StoreKind.lasting.contains($0.kind) })
  func attachedAgain(_ test: Case) async throws {
    for inView in [false, true] {
      try await withStoreAttachedAgain(test) { try await edit($0, test, inView: inView) }
    }
  }

  private func edit(_ container: any PersistentContainer, _ test: Case, inView: Bool) async throws {
    let view = container.viewContext
    let context = container.newBackgroundContext()
    context.mergePolicy = test.policy
    if inView {
      #expect(try view.update(Review.self, id: 1) { $0.text = "new" })
      #expect(try view.update(Review.self, id: 1) { $0.stars = 9 })
      #expect(try view.update(Book.self, id: "1") { $0.author.name = "new" })
      if test.policy == .byStamp || test.policy == .objectTrump { view.insert(Review(id: 2, text: "new")) }
      #expect(try view.delete(Review.self, id: 4))
      try view.save()
    } else {
      #expect(try context.update(Review.self, id: 1) { $0.text = "new" })
      #expect(try context.update(Review.self, id: 1) { $0.stars = 9 })
      #expect(try context.update(Book.self, id: "1") { $0.author.name = "new" })
      if test.policy == .byStamp || test.policy == .objectTrump { context.insert(Review(id: 2, text: "new")) }
      #expect(try context.delete(Review.self, id: 4))
      try context.save()
    }
    try await container.flush()
    let replaced = test.policy == .byStamp || test.policy == .objectTrump
    #expect(try container.stored(Review.self, id: 1) == Review(id: 1, text: "new", stars: 9))
    #expect(
      try container.stored(Review.self, id: 2)
        == (replaced ? Review(id: 2, text: "new") : Review(id: 2, text: "old", stars: 2)))
    #expect(try container.stored(Review.self, id: 3) == Review(id: 3, text: "old", stars: 3))
    #expect(try container.stored(Review.self, id: 4) == nil)
    let book = try container.stored(Book.self, id: "1")
    #expect(book?.author.name == "new" && book?.reviews == [])
    // Once more, over what was changed.
    #expect(try context.update(Review.self, id: 1) { $0.text = "newer" })
    try context.save()
    try await container.flush()
    #expect(try container.stored(Review.self, id: 1) == Review(id: 1, text: "newer", stars: 9))
  }

  @Test("A given stamp loses to what it is older than", arguments: Case.all.filter { $0.policy == .byStamp })
  func givenStamps(_ test: Case) async throws {
    try await withContainer(test) { container in
      let context = container.newBackgroundContext()
      #expect(try !context.update(Review.self, id: 1, modifiedAt: ahead - 1) { $0.text = "stale" })
      context.insert(Review(id: 2, text: "stale"), modifiedAt: ahead - 1)
      try context.save()
      try await container.flush()
      #expect(try container.stored(Review.self, id: 1)?.text == "old")
      #expect(try container.stored(Review.self, id: 2)?.text == "old")
    }
  }

  @Test("Of two contexts that change one property, the one that changed it later wins", arguments: StoreKind.allCases)
  func order(_ kind: StoreKind) async throws {
    let test = Case(kind: kind, strategy: .direct, policy: .byStamp)
    for isFirstSavedFirst in [false, true] {
      try await withContainer(test) { container in
        let (first, second) = (container.newBackgroundContext(), container.newBackgroundContext())
        try first.update(Review.self, id: 1) { $0.text = "first" }
        try second.update(Review.self, id: 1) { $0.text = "second" }
        for context in isFirstSavedFirst ? [first, second] : [second, first] { try context.save() }
        #expect(try container.stored(Review.self, id: 1)?.text == "second")
      }
    }
  }

  @Test("A stamp of NaN is older than all others", arguments: Case.all.filter { $0.policy == .byStamp })
  func noNumber(_ test: Case) async throws {
    try await withContainer(test) { container in
      let context = container.newBackgroundContext()
      func save() async throws {
        try context.save()
        try await container.flush()
      }
      context.insert(Review(id: 1, text: "stale"), modifiedAt: .nan)
      #expect(try !context.update(Review.self, id: 2, modifiedAt: .nan) { $0.text = "stale" })
      for id in 5...7 { context.insert(Review(id: id, text: "new"), modifiedAt: .nan) }
      let author = Author(id: "5", name: "new")
      context.insert(Book(id: "5", title: "new", author: author, reviews: []), modifiedAt: .nan)
      try await save()
      for id in 1...2 { #expect(try container.stored(Review.self, id: id)?.text == "old") }
      for id in 5...7 { #expect(try container.stored(Review.self, id: id)?.text == "new") }
      #expect(try container.stored(Book.self, id: "5")?.author.name == "new")
      // All that is newer replaces it.
      #expect(try context.update(Review.self, id: 5) { $0.text = "newer" })
      context.insert(Review(id: 6, text: "newer"), modifiedAt: 1)
      #expect(try context.delete(Review.self, id: 7))
      #expect(try context.update(Book.self, id: "5") { $0.author.name = "newer" })
      try await save()
      for id in 5...6 { #expect(try container.stored(Review.self, id: id)?.text == "newer") }
      #expect(try container.stored(Review.self, id: 7) == nil)
      #expect(try container.stored(Book.self, id: "5")?.author.name == "newer")
    }
  }
}
