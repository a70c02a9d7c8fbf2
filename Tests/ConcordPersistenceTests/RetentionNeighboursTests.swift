import Concord
import ConcordModel
import ConcordTestShared
import Foundation
import Testing

@testable import ConcordPersistence

extension PersistentContainer {
  /// Lets a container be as one of another process, whose views and contexts a purge here knows nothing of.
  func actAsOtherProcess() {
    for store in persistentStores {
      StorePlaces.shared.remove(ObjectIdentifier(persistentStoreCoordinator), at: store.place)
    }
  }
}

@Suite("Lasting: what other containers of the process need")
struct RetentionNeighboursTests {
  #if Persistence
    /// Two containers with the same rows, of which the second one has attached a file by another path.
    private func withTwo(
      _ kind: StoreKind, _ strategy: StrategyKind, _ first: Model? = nil,
      _ body: (any PersistentContainer, any PersistentContainer) async throws -> Void
    ) async throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "concord-\(UUID().uuidString)")
      let link = folder.appendingPathExtension("link")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder)
      defer { for url in [link, folder] { try? FileManager.default.removeItem(at: url) } }
      let (a, b) = (strategy.container(try first ?? libraryModel()), try strategy.container(libraryModel()))
      // Tables that the first model does not know are there before it is attached.
      if first != nil { try makeTables(kind, at: folder) }
      try a.attachPersistentStore(at: folder, for: StoreConfiguration(type: kind.type))
      try b.attachPersistentStore(
        at: kind == .sqlite ? link : folder, for: StoreConfiguration(type: kind.type))
      defer { for container in [a, b] { try? container.detach(persistentStores: container.persistentStores) } }
      try await body(a, b)
    }

    private func makeTables(_ kind: StoreKind, at folder: URL) throws {
      let whole = StrategyKind.direct.container(try libraryModel())
      try whole.detach(
        persistentStore: whole.attachPersistentStore(at: folder, for: StoreConfiguration(type: kind.type)))
    }

    private static let combinations = StoreKind.combinations.filter { $0.0 != .memory }

    @Test(
      "What another container with the same rows shows or has not saved stays, and what that contains",
      arguments: combinations)
    func needed(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
      try await withTwo(kind, strategy) { a, b in
        let (purging, unsaved) = (a.newBackgroundContext(), b.newBackgroundContext())
        func stored() throws -> [Int] {
          try BackgroundContext(parent: a.persistentStoreCoordinator).fetch(
            FetchDescriptor<Review>(sortBy: [SortDescriptor(\.id)])
          ).map(\.id)
        }
        for id in 0..<12 { purging.insert(Review(id: id, text: "old")) }
        purging.insert(Book(id: "b", title: "", author: Author(id: "x", name: "X")))
        try purging.save()
        try await a.flush()
        b.persistentStoreCoordinator.settle()
        var shown: [any Sendable] = [
          try #require(try b.viewContext.find(Review.self, id: 1)),
          try b.viewContext.query(FetchDescriptor<Review>(predicate: #Predicate { $0.id == 2 || $0.id == 3 })),
        ]
        try unsaved.update(Review.self, id: 4) { $0.text = "new" }
        try unsaved.update(Book.self, id: "b") { $0.reviews.append(Review(id: 5, text: "old")) }
        try b.viewContext.update(Review.self, id: 6) { $0.text = "new" }
        #expect(try purging.purge(Review.self, keeping: .atMost(0)) == 6)
        #expect(try stored() == Array(1...6))
        try a.keep(Review.self, .matching(#Predicate { $0.id > 20 }))
        #expect(try stored() == Array(1...6))
        // What was not saved is looked at again.
        try unsaved.save()
        try await b.flush()
        // A save through the view saves what that has changed, too.
        let left = strategy.backgroundSavesToDisk ? [1, 2, 3, 5, 6] : [1, 2, 3, 5]
        #expect(try await eventually { try stored() == left })
        try a.keepAll(Review.self)
        b.viewContext.rollback()
        shown = []
        #expect(shown.isEmpty)
        // Notices that are on their way hold what they tell.
        var purged = 0
        #expect(
          try await eventually {
            purged += try purging.purge(Review.self, keeping: .atMost(0))
            return purged == left.count - 1
          })
        #expect(try stored() == [5])
      }
    }

    @Test(
      "What entities contain that only the model of another container knows stays, and what that contains",
      arguments: combinations)
    func containedInOtherModel(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
      let small = try Model("Library", entities: [Author.self, Review.self])
      try await withTwo(kind, strategy, small) { a, b in
        let (purging, other) = (a.newBackgroundContext(), b.newBackgroundContext())
        let author = Author(id: "x", name: "X")
        for id in 0..<6 { other.insert(Review(id: id, text: "old")) }
        for name in ["y", "z"] { other.insert(Author(id: name, name: name)) }
        other.insert(Book(id: "b", title: "", author: author, reviews: [Review(id: 5, text: "old")]))
        try other.save()
        try await b.flush()
        a.persistentStoreCoordinator.settle()
        #expect(try purging.purge(Review.self, keeping: .atMost(0)) == 5)
        #expect(try purging.purge(Author.self, keeping: .atMost(0)) == 2)
        let reading = BackgroundContext(parent: b.persistentStoreCoordinator)
        let book = try #require(try reading.find(Book.self, id: "b"))
        #expect(book.author == author && book.reviews.map(\.id) == [5])
        #expect(try reading.count(FetchDescriptor<Review>()) == 1 && reading.count(FetchDescriptor<Author>()) == 1)
        // Nothing contains them any longer.
        try other.delete(Book.self, id: "b")
        try other.save()
        try await b.flush()
        #expect(try purging.purge(Review.self, keeping: .atMost(0)) == 1)
        #expect(try purging.purge(Author.self, keeping: .atMost(0)) == 1)
      }
    }

    @Test("What another container's file of another user contains stays", arguments: StrategyKind.allCases)
    func containedInOtherFile(_ strategy: StrategyKind) async throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "concord-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      let model = try Model("Library", entities: [Review.self, Author.self], configurations: ["User": [Book.self]])
      let containers = try ["ann", "ben"].map { user in
        let container = strategy.container(model)
        for configuration in [
          StoreConfiguration(fileName: "shared"), StoreConfiguration(fileName: user, name: "User"),
        ] {
          try container.attachPersistentStore(at: folder, for: configuration)
        }
        return container
      }
      defer { for container in containers { try? container.detach(persistentStores: container.persistentStores) } }
      for (number, container) in containers.enumerated() {
        let context = container.newBackgroundContext()
        context.insert(
          Book(
            id: "b", title: "", author: Author(id: "x", name: "X"), reviews: [Review(id: number, text: "old")]))
        context.insert(Review(id: 7, text: "old"))
        try context.save()
        try await container.flush()
      }
      for container in containers { container.persistentStoreCoordinator.settle() }
      #expect(try containers[0].newBackgroundContext().purge(Review.self, keeping: .atMost(0)) == 1)
      for (number, container) in containers.enumerated() {
        let book = try BackgroundContext(parent: container.persistentStoreCoordinator).find(Book.self, id: "b")
        #expect(book?.reviews.map(\.id) == [number])
      }
    }

    @Test("A container that has let go of the rows, or is gone, needs none of them", arguments: StoreKind.lasting)
    func gone(_ kind: StoreKind) async throws {
      try await withTwo(kind, .direct) { a, b in
        let (purging, unsaved) = (a.newBackgroundContext(), b.newBackgroundContext())
        for id in 0..<3 { purging.insert(Review(id: id, text: "old")) }
        try purging.save()
        try unsaved.update(Review.self, id: 1) { $0.text = "new" }
        #expect(try purging.purge(Review.self, keeping: .atMost(0)) == 2)
        #expect(StorePlaces.shared.neighbours(of: a.persistentStoreCoordinator).count == 1)
        try b.detach(persistentStores: b.persistentStores)
        #expect(StorePlaces.shared.neighbours(of: a.persistentStoreCoordinator).isEmpty)
        #expect(try purging.purge(Review.self, keeping: .atMost(0)) == 1)
      }
    }
  #endif

  @Test("A store that two containers have attached is one, and a released one is forgotten")
  func sameObject() throws {
    let rows = MemoryStore(name: "memory")
    func coordinator() throws -> PersistentStoreCoordinator {
      let coordinator = PersistentStoreCoordinator(model: try libraryModel())
      try coordinator.attach(rows, configuration: "")
      return coordinator
    }
    let purging = try coordinator()
    let context = purging.newContext()
    for id in 0..<3 { context.insert(Review(id: id, text: "old")) }
    try context.save()
    var unsaved: BackgroundContext? = try coordinator().newContext()
    try unsaved?.update(Review.self, id: 1) { $0.text = "new" }
    #expect(try context.purge(Review.self, keeping: .atMost(0)) == 2)
    #expect(StorePlaces.shared.neighbours(of: purging).count == 1)
    unsaved = nil
    #expect(StorePlaces.shared.neighbours(of: purging).isEmpty)
    #expect(try context.purge(Review.self, keeping: .atMost(0)) == 1)
  }

  @Test("A store that two containers of different models have attached is read for what it contains while it is locked")
  func sameObjectOfOtherModel() throws {
    let rows = MemoryStore(name: "memory")
    func coordinator(_ model: Model) throws -> PersistentStoreCoordinator {
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.attach(rows, configuration: "")
      return coordinator
    }
    let (a, b) = (
      try coordinator(Model("Library", entities: [Author.self, Review.self])), try coordinator(libraryModel())
    )
    let context = b.newContext()
    context.insert(
      Book(id: "b", title: "", author: Author(id: "x", name: "X"), reviews: [Review(id: 1, text: "")]))
    context.insert(Review(id: 2, text: ""))
    try context.save()
    #expect(try a.newContext().purge(Review.self, keeping: .atMost(0)) == 1)
    #expect(try context.find(Book.self, id: "b")?.reviews.map(\.id) == [1])
  }

  // MARK: Meanwhile

  @Test("What is observed by the time at which it is removed stays", arguments: StoreKind.allCases)
  func meanwhile(_ kind: StoreKind) async throws {
    try await StrategyKind.direct.withContainer(kind) { container in
      let context = container.newBackgroundContext()
      for id in 0..<10 { context.insert(Review(id: id, text: "")) }
      try context.save()
      // Not observed when the purge looks, and observed when it looks again.
      let other = Asked { keys, key in keys.contains(key) && key.id == .integer(3) }
      container.persistentStoreCoordinator.addGuard(other)
      #expect(try context.purge(Review.self, keeping: .atMost(0)) == 9)
      #expect(try context.fetch(FetchDescriptor<Review>()).map(\.id) == [3])
      #expect(other.attempts == 2)
    }
  }

  @Test(
    "Where something else is observed each time, the purge gives up, and removes nothing", arguments: StoreKind.allCases
  )
  func again(_ kind: StoreKind) async throws {
    try await StrategyKind.direct.withContainer(kind) { container in
      let context = container.newBackgroundContext()
      for id in 0..<100 { context.insert(Review(id: id, text: "")) }
      try context.save()
      let found = Locked(-1)
      let other = Asked { keys, key in
        guard keys.contains(key) else { return false }
        // The first one that is asked for again.
        return found.withLock { found in
          defer { if found < 0 { found = keys.count } }
          return found < 0
        }
      } begin: {
        found.withLock { $0 = -1 }
      }
      container.persistentStoreCoordinator.addGuard(other)
      #expect(throws: StoreError.self) { try context.purge(Review.self, keeping: .atMost(0)) }
      #expect(try context.count(FetchDescriptor<Review>()) == 100 && other.attempts == 8)
    }
  }

  @Test("What a view finds while a purge runs stays, and its observer goes on", arguments: StoreKind.lasting)
  func found(_ kind: StoreKind) async throws {
    try await StrategyKind.direct.withContainer(kind) { container in
      let (context, view) = (container.newBackgroundContext(), container.viewContext)
      for id in 0..<10 { context.insert(Review(id: id, text: "")) }
      try context.save()
      try await container.flush()
      let first = Locked<Int?>(nil)
      let observer = Locked<EntityObserver<Review>?>(nil)
      let problem = Locked<String?>(nil)
      let other = Asked { keys, key in
        guard case .integer(let id) = key.id else { return false }
        if keys.isEmpty { first.withLock { $0 = $0 ?? Int(id) } }
        // The first one has been looked at by now, and the purge has its transaction.
        guard keys.count == 1, !keys.contains(key), observer.withLock({ $0 == nil }), let found = first.withLock({ $0 })
        else { return false }
        let isDone = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
          do {
            let value = try view.find(Review.self, id: found)
            observer.withLock { $0 = value }
          } catch { problem.withLock { $0 = "\(error)" } }
          isDone.signal()
        }
        isDone.wait()
        return false
      }
      container.persistentStoreCoordinator.addGuard(other)
      #expect(try context.purge(Review.self, keeping: .atMost(0)) == 9)
      try await container.flush()
      let kept = try #require(observer.withLock { $0 })
      #expect(problem.withLock { $0 } == nil && !kept.isRemoved && other.attempts == 2)
      #expect(try context.fetch(FetchDescriptor<Review>()).map(\.id) == [kept.value.id])
    }
  }
}

/// Says what is observed, by what it was asked for since the purge began, again.
private final class Asked: RetentionGuard {
  private let state = Locked((keys: Set<EntityKey>(), attempts: 0))
  private let answer: @Sendable (_ asked: Set<EntityKey>, _ key: EntityKey) -> Bool
  private let begin: @Sendable () -> Void

  init(
    _ answer: @escaping @Sendable (_ asked: Set<EntityKey>, _ key: EntityKey) -> Bool,
    begin: @escaping @Sendable () -> Void = {}
  ) { (self.answer, self.begin) = (answer, begin) }

  var attempts: Int { state.withLock { $0.attempts } }

  func pendingKeys() -> Set<EntityKey> {
    begin()
    state.withLock { ($0.keys, $0.attempts) = ([], $0.attempts + 1) }
    return []
  }

  func isObserved(_ key: EntityKey) -> Bool {
    let keys = state.withLock { $0.keys }
    defer { state.withLock { _ = $0.keys.insert(key) } }
    return answer(keys, key)
  }
}
