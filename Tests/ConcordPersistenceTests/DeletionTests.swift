import Concord
import ConcordModel
import Foundation
import Testing

@testable import ConcordPersistence

#if Persistence
  import GRDB
#endif

/// The memory of what was deleted.
@Suite("Deletions keep a stamp")
struct DeletionTests {
  private let key = { (model: Model) throws in EntityKey(try model.entity(Review.self), .integer(1)) }

  @Test(
    "Of several deletions the latest is remembered, and one that is rolled back is not", arguments: StoreKind.allCases)
  func latest(_ kind: StoreKind) throws {
    let model = try libraryModel()
    let key = try key(model)
    try kind.withStore(model) { store in
      #expect(try store.read { try $0.deletion(of: key) } == nil)
      try store.write(origin: nil) { try $0.delete(key, stamp: 5) }
      try store.write(origin: nil) { try $0.delete(key, stamp: 3) }
      #expect(try store.read { try $0.deletion(of: key) } == 5)
      struct Failure: Error {}
      #expect(throws: Failure.self) {
        try store.write(origin: nil) { writing in
          try writing.delete(key, stamp: 9)
          #expect(try writing.deletion(of: key) == 9)
          throw Failure()
        }
      }
      #expect(try store.read { try $0.deletion(of: key) } == 5)
      #expect(try store.read { try $0.deletion(of: EntityKey(key.entity, .integer(2))) } == nil)
    }
  }

  @Test("Owners keep their stamps and the order of the rest", arguments: StoreKind.combinations)
  func owners(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
    for policy in [MergePolicy.byStamp, .objectTrump, .storeTrump, .error] {
      for isReorderedFirst in [true, false] where policy == .byStamp || policy == .objectTrump || isReorderedFirst {
        try await strategy.withContainer(kind) { container in
          let before = Date().stamp - 10
          let reviews = (0..<5).map { Review(id: $0, text: "") }
          let first = container.newBackgroundContext()
          first.insert(
            Book(id: "1", title: "", author: Author(id: "1", name: ""), reviews: reviews), modifiedAt: before)
          try first.save()
          // One moves, the other one deletes, without knowing of each other.
          let (moving, deleting) = (container.newBackgroundContext(), container.newBackgroundContext())
          (moving.mergePolicy, deleting.mergePolicy) = (policy, policy)
          try moving.update(Book.self, id: "1", modifiedAt: before + 5) { $0.reviews.reverse() }
          #expect(try deleting.delete(Review.self, id: 2))
          #expect(try deleting.stamp(of: Book.self, id: "1") == before)
          for context in isReorderedFirst ? [moving, deleting] : [deleting, moving] { try context.save() }
          try await container.flush()
          let context = container.newBackgroundContext()
          #expect(try context.find(Book.self, id: "1")?.reviews.map(\.id) == [4, 3, 1, 0], "\(policy)")
          #expect(try context.stamp(of: Book.self, id: "1") == before + 5)
          // What the deletion has left is edited.
          try context.update(Book.self, id: "1") { $0.reviews.append(Review(id: 7, text: "")) }
          try context.delete(Review.self, id: 3)
          try context.save()
          try await container.flush()
          #expect(try context.find(Book.self, id: "1")?.reviews.map(\.id) == [4, 1, 0, 7])
        }
      }
    }
  }

  @Test("An owner that only lost an entity does not come back with it", arguments: StoreKind.allCases)
  func removedOwner(_ kind: StoreKind) throws {
    try kind.withCoordinator(libraryModel()) { coordinator in
      for policy in [MergePolicy.objectTrump, .error] {
        let first = coordinator.newContext()
        first.insert(Book(id: "1", title: "", author: Author(id: "1", name: ""), reviews: [Review(id: 1, text: "")]))
        try first.save()
        let (mine, theirs) = (coordinator.newContext(), coordinator.newContext())
        mine.mergePolicy = policy
        try mine.delete(Review.self, id: 1)
        try theirs.delete(Book.self, id: "1")
        try theirs.save()
        try mine.save()
        #expect(try first.count(FetchDescriptor<Book>()) == 0)
        #expect(try first.count(FetchDescriptor<Review>()) == 0)
      }
    }
  }

  @Test("A given value is compared with deletions of other containers, by each policy", arguments: StoreKind.allCases)
  func policies(_ kind: StoreKind) throws {
    let model = try libraryModel()
    try kind.withStore(model) { store in
      let (mine, theirs) = (PersistentStoreCoordinator(model: model), PersistentStoreCoordinator(model: model))
      for coordinator in [mine, theirs] { try coordinator.attach(store, configuration: "") }
      for (id, policy) in [MergePolicy.byStamp, .storeTrump, .objectTrump, .error].enumerated() {
        let first = theirs.newContext()
        first.insert(Review(id: id, text: ""), modifiedAt: 5)
        try first.save()
        let read = Date().stamp
        try first.delete(Review.self, id: id)
        try first.save()
        for isNested in [false, true] {
          let context = mine.newContext()
          context.mergePolicy = policy
          let review = Review(id: id, text: "old")
          if isNested {
            context.insert(
              Book(id: "\(id)", title: "", author: Author(id: "\(id)", name: ""), reviews: [review]), modifiedAt: read)
          } else {
            context.insert(review, modifiedAt: read)
          }
          if policy == .error {
            #expect(reason { try context.save() }?.contains("removed") == true)
            continue
          }
          try context.save()
          let comesBack = policy == .objectTrump
          #expect(try mine.newContext().find(Review.self, id: id) == (comesBack ? review : nil), "\(policy)")
          if isNested {
            #expect(try mine.newContext().find(Book.self, id: "\(id)")?.reviews == (comesBack ? [review] : []))
          }
          // A local insertion is newer.
          let again = mine.newContext()
          again.mergePolicy = policy
          if !comesBack {
            again.insert(review)
            try again.save()
          }
          #expect(try mine.newContext().find(Review.self, id: id) == review)
          try again.delete(Review.self, id: id)
          try again.save()
        }
      }
    }
  }

  @Test("A deletion with a given stamp is older or newer than values", arguments: StoreKind.combinations)
  func given(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
    try await strategy.withContainer(kind) { container in
      func save(_ body: (BackgroundContext) throws -> Void) async throws {
        let context = container.newBackgroundContext()
        try body(context)
        try context.save()
        try await container.flush()
      }
      func text() throws -> String? { try container.newBackgroundContext().find(Review.self, id: 1)?.text }
      func insert(_ stamp: Stamp) async throws {
        try await save { $0.insert(Review(id: 1, text: "\(stamp)"), modifiedAt: stamp) }
      }
      func delete(_ id: Int, _ stamp: Stamp) async throws -> Bool {
        let context = container.newBackgroundContext()
        let isDeleted = try context.delete(Review.self, id: id, modifiedAt: stamp)
        try context.save()
        try await container.flush()
        return isDeleted
      }
      try await insert(5)
      // Not newer.
      for stamp in [4, 5, -.infinity, .nan] as [Stamp] {
        #expect(try await delete(1, stamp) == false)
      }
      #expect(try text() == "5.0")
      #expect(try await delete(1, 7) == true)
      for stamp in [5, 7] as [Stamp] {
        try await insert(stamp)
        #expect(try text() == nil)
      }
      try await insert(8)
      #expect(try text() == "8.0")
      // What is not stored: never, or no longer.
      try await save { (context) throws in
        #expect(try !context.delete(Review.self, id: 2, modifiedAt: 5))
        #expect(context.hasChanges)
        #expect(context.deletedObjects.isEmpty)
      }
      try await save { $0.insert(Review(id: 2, text: ""), modifiedAt: 4) }
      #expect(try container.newBackgroundContext().count(FetchDescriptor<Review>()) == 1)
      #expect(try await delete(1, 9) == true)
      #expect(try await delete(1, 20) == false)
      #expect(try await delete(1, 15) == false)
      try await insert(20)
      #expect(try text() == nil)
      try await insert(21)
      #expect(try text() == "21.0")
      // In one context, what was never stored.
      try await save { context in
        context.insert(Review(id: 3, text: "a"), modifiedAt: 5)
        #expect(try !context.delete(Review.self, id: 3, modifiedAt: 5))
        #expect(try context.delete(Review.self, id: 3, modifiedAt: 6))
        context.insert(Review(id: 3, text: "b"), modifiedAt: 6)
        #expect(try context.find(Review.self, id: 3) == nil)
        // Inserted again, and deleted without a stamp.
        context.insert(Review(id: 4, text: "a"), modifiedAt: 5)
        try context.delete(Review.self, id: 4, modifiedAt: 6)
        context.insert(Review(id: 4, text: "b"), modifiedAt: 7)
        try context.delete(Review.self, id: 4)
      }
      try await save { context in
        for id in [3, 4] { context.insert(Review(id: id, text: "c"), modifiedAt: 6) }
      }
      #expect(try container.newBackgroundContext().count(FetchDescriptor<Review>()) == 1)
      try await save { $0.insert(Review(id: 3, text: "d"), modifiedAt: 7) }
      #expect(try container.newBackgroundContext().find(Review.self, id: 3)?.text == "d")
      // The view, and an owner that requires the entity and is newer.
      try await save { context in
        context.insert(Author(id: "1", name: ""), modifiedAt: 5)
        context.insert(Book(id: "1", title: "", author: Author(id: "1", name: "")), modifiedAt: 5)
        try context.update(Book.self, id: "1", modifiedAt: 9) { $0.title = "new" }
      }
      let view = container.viewContext
      let author = try #require(try view.find(Author.self, id: "1"))
      #expect(try !view.delete(Author.self, id: "1", modifiedAt: 5))
      #expect(!author.isRemoved)
      #expect(try view.delete(Author.self, id: "1", modifiedAt: 6))
      #expect(author.isRemoved)
      try view.save()
      try await container.flush()
      for (stamp, count) in [(9, 0), (10, 1)] as [(Stamp, Int)] {
        try await save { context in
          context.insert(Book(id: "1", title: "", author: Author(id: "1", name: "")), modifiedAt: stamp)
        }
        #expect(try container.newBackgroundContext().count(FetchDescriptor<Book>()) == count)
      }
    }
  }

  @Test("A given deletion and a change that another context saves meanwhile", arguments: StoreKind.allCases)
  func givenMeanwhile(_ kind: StoreKind) throws {
    for isChild in [false, true] {
      try kind.withCoordinator(libraryModel()) { coordinator in
        let root = RootContext(parent: coordinator) { Issue.record($0) }
        let parent: any ContextParent = isChild ? root : coordinator
        var id = 0
        for policy in [MergePolicy.byStamp, .storeTrump, .objectTrump, .error] {
          for (stamp, isStored) in [(6, true), (8, true), (6, false), (8, false)] as [(Stamp, Bool)] {
            id += 1
            let (mine, theirs) = (BackgroundContext(parent: parent), coordinator.newContext())
            mine.mergePolicy = policy
            if isStored {
              theirs.insert(Review(id: id, text: ""), modifiedAt: 5)
              try theirs.save()
            }
            #expect(try mine.delete(Review.self, id: id, modifiedAt: stamp) == isStored)
            theirs.insert(Review(id: id, text: "theirs"), modifiedAt: 7)
            try theirs.save()
            let isDeleted = policy == .objectTrump || policy == .byStamp && stamp == 8
            if policy == .error {
              #expect(reason { try mine.save() }?.contains("changed") == true)
            } else {
              try mine.save()
              try root.writePendingChanges()
            }
            #expect(
              try (coordinator.newContext().find(Review.self, id: id) == nil) == isDeleted,
              "\(policy), \(stamp), \(isStored)")
          }
        }
      }
    }
  }

  @Test("Deletions are forgotten after the time that an option says", arguments: StoreKind.allCases)
  func bounded(_ kind: StoreKind) throws {
    for (option, isRemembered) in [
      (nil as (any Hashable & Sendable)?, true), (30, true), (0.5, true), (0, false), (-1.0, false),
    ] {
      try withFolder { folder in
        let container = try GenericPersistentContainer<ContextStrategy.Direct>(name: "Library", model: libraryModel())
        var options = StoreConfiguration.Default.options
        if let option { options[ConcordRememberedDeletionsOption] = option }
        try container.attachPersistentStore(
          at: folder, for: StoreConfiguration(type: kind.type, options: options))
        let context = container.newBackgroundContext()
        context.insert(Review(id: 1, text: ""))
        try context.save()
        try context.delete(Review.self, id: 1)
        try context.save()
        context.insert(Review(id: 1, text: ""), modifiedAt: 1)
        try context.save()
        #expect(try context.count(FetchDescriptor<Review>()) == (isRemembered ? 0 : 1), "\(option as Any)")
      }
    }
    // Trimmed while others are noted.
    let model = try libraryModel()
    let entity = try model.entity(Review.self)
    try withFolder { folder in
      // Longer than what is written in between takes.
      let time = kind.isShared ? 1.5 : 0.05
      let store = try kind.open(model, at: folder.appending(path: "a.sqlite"), remembersDeletionsFor: time)
      defer { try? store.close() }
      func delete(_ ids: Range<Int64>) throws {
        try store.write(origin: nil) { for id in ids { try $0.delete(EntityKey(entity, .integer(id)), stamp: 1) } }
      }
      func remembered(_ ids: Range<Int64>) throws -> Int {
        try store.read { reading in
          try ids.count { try reading.deletion(of: EntityKey(entity, .integer($0))) != nil }
        }
      }
      try delete(0..<200)
      // Noted again, so that it is as young as those that come.
      try delete(0..<1)
      #expect(try remembered(0..<200) == 200)
      Thread.sleep(forTimeInterval: time * 1.2)
      try delete(200..<264)
      #expect(try remembered(0..<200) <= 200 - 64)
      #expect(try remembered(200..<264) == 64)
      for step in 0..<6 { try delete(Int64(300 + step)..<Int64(301 + step)) }
      try delete(400..<500)
      #expect(try remembered(0..<200) == 0)
    }
  }

  #if Persistence
    @Test("A file of an earlier version gets the memory with its first deletion, and attaching forgets what is old")
    func files() throws {
      let model = try libraryModel()
      let entity = try model.entity(Review.self)
      try withFolder { folder in
        let url = folder.appending(path: "a.sqlite")
        func open(_ time: TimeInterval = 100, _ body: (SQLiteStore) throws -> Void) throws {
          let store = try SQLiteStore(url: url, entities: model.entities, remembersDeletionsFor: time)
          defer { try? store.close() }
          try body(store)
        }
        func tables() throws -> [String] {
          try DatabaseQueue(path: url.path).read {
            try String.fetchAll($0, sql: "SELECT name FROM sqlite_master WHERE name LIKE '%deletions%' ORDER BY 1")
          }
        }
        try open { _ in }
        #expect(try tables() == [])
        try open { store in
          try store.write(origin: nil) { writing in
            for id in 0..<1200 { try writing.delete(EntityKey(entity, .integer(Int64(id))), stamp: 7) }
          }
        }
        #expect(
          try tables() == ["concord_deletions", "concord_deletions.stamp", "sqlite_autoindex_concord_deletions_1"])
        try open { store in
          let last = try store.read { try $0.deletion(of: EntityKey(entity, .integer(1199))) }
          #expect(last == 7)
        }
        Thread.sleep(forTimeInterval: 0.02)
        try open(0.01) { store in
          #expect(try store.read { try $0.deletion(of: EntityKey(entity, .integer(999))) } == nil)
          #expect(try store.read { try $0.deletion(of: EntityKey(entity, .integer(1000))) } == 7)
          // Another program drops the table.
          try DatabaseQueue(path: url.path).write { try $0.execute(sql: "DROP TABLE concord_deletions") }
          #expect(try store.read { try $0.deletion(of: EntityKey(entity, .integer(1000))) } == nil)
          try store.write(origin: nil) { try $0.delete(EntityKey(entity, .integer(1)), stamp: 8) }
          #expect(try store.read { try $0.deletion(of: EntityKey(entity, .integer(1))) } == 8)
        }
      }
    }
  #endif
}
