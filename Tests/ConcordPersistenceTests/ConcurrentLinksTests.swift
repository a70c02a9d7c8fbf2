import Concord
import ConcordTestShared
import Foundation
import Testing

@testable import ConcordPersistence

/// Links to a large collection that several writers change at once.
@Suite("Links beside other writers", .serialized)
struct ConcurrentLinksTests {
  private static let times = TestOptions.isLong ? 50 : 12

  @Test("Appends under the policy error are neither lost nor doubled", arguments: StoreKind.combinations)
  func appends(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "concord-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    func container() throws -> any PersistentContainer {
      let container = try strategy.container(libraryModel())
      try container.attachPersistentStore(at: folder, for: StoreConfiguration(type: kind.type))
      return container
    }
    let first = try container()
    // A memory store has one container, and a save that is written later is no acknowledgement to another container.
    let second = kind == .memory || !strategy.backgroundSavesToDisk ? first : try container()
    let context = first.newBackgroundContext()
    context.insert(Book(id: "1", title: "", author: Author(id: "1", name: "")))
    try context.save()
    try await first.flush()
    let errors = Locked<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 4) { task in
      let context = (task % 2 == 0 ? first : second).newBackgroundContext()
      context.mergePolicy = .error
      for number in 0..<Self.times {
        let review = Review(id: task * 1000 + number, text: "\(number)")
        while true {
          do {
            let isTaken = try context.update(Book.self, id: "1", leavingOut: \.reviews) { _, links in
              try links.append(review, to: \.reviews)
            }
            if !isTaken { errors.withLock { $0.append("an append was not taken") } }
            try context.save()
            break
          } catch StoreError.conflict {
            context.rollback()
          } catch {
            errors.withLock { $0.append("\(error)") }
            return
          }
        }
      }
    }
    #expect(errors.withLock { $0 } == [])
    for container in [first, second] { try await container.flush() }
    let book = try #require(try first.stored(Book.self, id: "1"))
    #expect(book.reviews.count == 4 * Self.times)
    // Each task's own are in order.
    for task in 0..<4 {
      let ids = book.reviews.map(\.id).filter { $0 / 1000 == task }
      #expect(ids == (0..<Self.times).map { task * 1000 + $0 })
    }
    for container in [second, first] {
      for store in container.persistentStores { try container.detach(persistentStore: store) }
    }
  }

  @Test(
    "An entity that stands twice beside another context, a rollback, a child, and a new start",
    arguments: StoreKind.allCases)
  func twice(_ kind: StoreKind) throws {
    let (a, b, c) = (Review(id: 1, text: "a"), Review(id: 2, text: "b"), Review(id: 3, text: "c"))
    try withFolder { folder in
      let model = try libraryModel()
      var store = try kind.open(model, in: folder)
      defer { try? store.close() }
      func attach() throws -> PersistentStoreCoordinator {
        let coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.attach(store, configuration: "")
        return coordinator
      }
      var coordinator = try attach()
      func ids(_ context: BackgroundContext) throws -> [Int]? {
        let shown = try context.find(Book.self, id: "1")?.reviews.map(\.id)
        var linked: [Int]?
        try context.update(Book.self, id: "1", leavingOut: \.reviews) { _, links in
          linked = try links.ids(of: \.reviews)
        }
        #expect(linked == shown)
        return shown
      }
      let context = coordinator.newContext()
      context.insert(Book(id: "1", title: "", author: Author(id: "1", name: ""), reviews: [a, b, a]))
      try context.save()
      #expect(try ids(context) == [1, 2, 1])
      // Taken back.
      try context.update(Book.self, id: "1", leavingOut: \.reviews) { _, links in try links.remove(1, from: \.reviews) }
      #expect(try ids(context) == [2])
      context.rollback()
      #expect(try ids(context) == [1, 2, 1])
      // One moves, the other one changes the title, then what stands twice.
      let other = coordinator.newContext()
      try context.update(Book.self, id: "1", leavingOut: \.reviews) { _, links in
        try links.insert(a, at: 1, in: \.reviews)
        try links.append(c, to: \.reviews)
      }
      try other.update(Book.self, id: "1") { $0.title = "new" }
      try other.update(Review.self, id: 1) { $0.text = "other" }
      try other.save()
      #expect(try ids(context) == [1, 1, 2, 1, 3])
      try context.save()
      #expect(try ids(other) == [1, 1, 2, 1, 3])
      #expect(try other.find(Book.self, id: "1")?.title == "new")
      // A child, whose parent has removed the other one.
      let view = ViewContext(parent: coordinator, delivery: .immediate) { Issue.record($0) }
      let child = BackgroundContext(parent: view)
      try view.delete(Review.self, id: 2)
      #expect(try ids(child) == [1, 1, 1, 3])
      try child.update(Book.self, id: "1", leavingOut: \.reviews) { _, links in
        try links.insert(b, at: 1, in: \.reviews)
      }
      try child.save()
      #expect(try ids(context) == [1, 2, 1, 1, 3])
      // A deletion by another context takes all that stand there.
      try context.update(Book.self, id: "1", leavingOut: \.reviews) { _, links in try links.append(b, to: \.reviews) }
      try other.delete(Review.self, id: 1)
      try other.save()
      try context.save()
      #expect(try ids(context) == [2, 3, 2])
      if kind != .memory {
        try store.close()
        store = try kind.open(model, in: folder)
        coordinator = try attach()
      }
      let again = coordinator.newContext()
      #expect(try ids(again) == [2, 3, 2])
      #expect(try again.find(Review.self, id: 1) == nil)
    }
  }
}
