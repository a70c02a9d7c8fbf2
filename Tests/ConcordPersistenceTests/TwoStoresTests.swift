import Concord
import Foundation
import Testing

@testable import ConcordPersistence

@Suite("Two stores, two clocks, two programs")
struct TwoStoresTests {
  private func model() throws -> Model {
    try Model("Library", entities: [Book.self, Author.self], configurations: ["Reviews": [Review.self]])
  }

  @Test("What is saved while entities are moved is moved, too")
  func savingWhileMoving() async throws {
    let coordinator = PersistentStoreCoordinator(model: try model())
    let holder = MemoryStore(name: "all")
    try coordinator.attach(holder, configuration: "")
    let context = coordinator.newContext()
    for id in 0..<2_500 { context.insert(Review(id: id, text: "old")) }
    try context.save()
    let home = GateStore(name: "reviews")
    home.closeGateBehind()
    let attaching = Task.detached {
      try coordinator.attach(
        PersistentStore(configurationName: "Reviews", type: .inMemory, url: nil, rows: home), movingEntities: true)
    }
    // The first batch is copied, and not deleted yet.
    #expect(try await eventually { home.writes.withLock { $0 } == 1 })
    try context.update(Review.self, id: 0) { $0.text = "new" }
    context.insert(Review(id: 9_999, text: "late"))
    #expect(try context.delete(Review.self, id: 2_400))
    try context.save()
    home.openGate()
    try await attaching.value
    let found = try coordinator.newContext().fetch(FetchDescriptor<Review>())
    #expect(found.count == 2_500)
    #expect(found.first { $0.id == 0 }?.text == "new" && found.contains { $0.id == 9_999 })
    #expect(!found.contains { $0.id == 2_400 })
    let review = try coordinator.model.entity(Review.self)
    #expect(try holder.read { try $0.count(RowQuery(review)) } == 0)
  }

  @Test("Two containers that attach two files in different orders do not wait for each other")
  func oppositeOrders() async throws {
    try await withFolder { folder in
      let (all, reviews) = (StoreConfiguration(), StoreConfiguration(name: "Reviews"))
      var containers: [GenericPersistentContainer<ContextStrategy.Direct>] = []
      for order in [[all, reviews], [reviews, all]] {
        let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Library", model: try model())
        for configuration in order { try container.attachPersistentStore(at: folder, for: configuration) }
        containers.append(container)
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (number, container) in containers.enumerated() {
          group.addTask {
            let context = container.newBackgroundContext()
            for id in 0..<100 {
              let id = id * 2 + number
              context.insert(
                Book(
                  id: "\(id)", title: "", author: Author(id: "a", name: ""), reviews: [Review(id: id, text: "")]))
              try context.save()
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try containers[0].newBackgroundContext().count(FetchDescriptor<Book>()) == 200)
      for container in containers { try container.detach(persistentStores: container.persistentStores) }
    }
  }

  @Test("A stamp far ahead of the clock is no measure for rows that are a little ahead")
  func farAndNear() {
    let now = Stamp(1_000)
    let clock = StampSource { now }
    let (far, near) = (now + 1_000_000, now + 0.2)
    let first = clock.next(after: far)
    #expect(first > far && first < far + 1)
    let second = clock.next(after: near)
    #expect(second > near && second < near + 1)
    // Of rows that are as far ahead, the later change has the later stamp.
    #expect(clock.next(after: far) > first)
    #expect(clock.next(after: near) > second)
    #expect(clock.next(after: .infinity) == .infinity)
    let third = clock.next(after: near)
    #expect(third > second && third < near + 1)
  }

  @Test(
    "Of two changes that two clocks give one stamp, the one that is saved later stays", arguments: StoreKind.allCases)
  func twoClocks(_ kind: StoreKind) throws {
    let model = try libraryModel()
    try kind.withStore(model) { store in
      var contexts: [BackgroundContext] = []
      for _ in 0..<2 {
        let coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.attach(store, configuration: "")
        contexts.append(coordinator.newContext())
      }
      contexts[0].insert(Review(id: 1, text: "", stars: 0), modifiedAt: Date().stamp + 100_000)
      try contexts[0].save()
      #expect(try contexts[0].find(Review.self, id: 1)?.stars == 0)
      try contexts[0].update(Review.self, id: 1) { $0.stars = 1 }
      try contexts[1].update(Review.self, id: 1) { $0.stars = 2 }
      try contexts[0].save()
      try contexts[1].save()
      #expect(try contexts[0].find(Review.self, id: 1)?.stars == 2)
    }
  }

  @Test("A value that cannot be inserted is told once, changes nothing, and holds up nothing")
  func failedInsertion() throws {
    let coordinator = PersistentStoreCoordinator(model: try libraryModel())
    try coordinator.attach(MemoryStore(name: "all"), configuration: "")
    let context = coordinator.newContext()
    context.insert(Review(id: 1, text: "before"))
    context.insert(Unknown(id: 1))
    context.insert(Review(id: 2, text: "after"))
    #expect(throws: StoreError.self) { try context.save() }
    try context.save()
    #expect(try coordinator.newContext().count(FetchDescriptor<Review>()) == 2)
    // What is saved to the view does not fail for what the view could not insert.
    let view = ViewContext(parent: coordinator, delivery: .immediate) { _ in }
    let child = BackgroundContext(parent: view)
    view.insert(Unknown(id: 1))
    child.insert(Review(id: 3, text: "child"))
    try child.save()
    #expect(throws: StoreError.self) { try view.save() }
    try view.save()
    #expect(try coordinator.newContext().count(FetchDescriptor<Review>()) == 3)
  }

  /// An entity that no model has.
  private struct Unknown: PersistentEntity {
    let id: Int
    static let persistentProperties: [PersistentProperty<Unknown>] = [.init("id", \.id)]
    init(id: Int) { self.id = id }
    init(from row: inout RowReader) throws { self.init(id: try row.read()) }
    func write(to row: inout RowWriter) throws { try row.write(id) }
  }

  private func withFolder<R>(_ body: (URL) async throws -> R) async throws -> R {
    let folder = FileManager.default.temporaryDirectory.appending(path: "concord-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder)
  }
}

#if Persistence
  /// A note whose code is unique in the newer of two programs.
  private struct Plain: PersistentEntity {
    static let entityName = "Note"
    let id: Int
    var code: String
    static let persistentProperties: [PersistentProperty<Plain>] = [.init("id", \.id), .init("code", \.code)]
    init(id: Int, code: String) { (self.id, self.code) = (id, code) }
    init(from row: inout RowReader) throws { self.init(id: try row.read(), code: try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(code)
    }
  }

  private struct Coded: PersistentEntity {
    static let entityName = "Note"
    let id: Int
    var code: String
    static let persistentProperties: [PersistentProperty<Coded>] = [.init("id", \.id), .init("code", \.code, .unique)]
    init(id: Int, code: String) { (self.id, self.code) = (id, code) }
    init(from row: inout RowReader) throws { self.init(id: try row.read(), code: try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(code)
    }
  }

  @Suite("Unique columns that another program does not know")
  struct UniqueInOneProgramTests {
    private func container<T: PersistentEntity>(
      _ type: T.Type, version: Int = 0
    ) throws -> GenericPersistentContainer<ContextStrategy.Direct> {
      GenericPersistentContainer(
        name: "Notes", model: try Model("Notes", entities: [type], version: version))
    }

    private func attach(
      _ container: GenericPersistentContainer<ContextStrategy.Direct>, _ folder: URL, migrates: Bool = true
    ) throws {
      try container.attachPersistentStore(
        at: folder,
        for: StoreConfiguration(options: migrates ? [:] : [NSMigratePersistentStoresAutomaticallyOption: false]))
    }

    @Test("A program with an older version leaves them unique")
    func older() throws {
      try withFolder { folder in
        let newer = try container(Coded.self, version: 2)
        try attach(newer, folder)
        let older = try container(Plain.self, version: 1)
        try attach(older, folder)
        let context = newer.newBackgroundContext()
        context.insert(Coded(id: 1, code: "a"))
        try context.save()
        let old = older.newBackgroundContext()
        old.insert(Plain(id: 2, code: "a"))
        #expect(throws: StoreError.self) { try old.save() }
        old.rollback()
        context.insert(Coded(id: 3, code: "a"))
        #expect(throws: StoreError.self) { try context.save() }
      }
    }

    @Test("Where versions do not tell which is older, nothing is written by the one whose index is gone")
    func withoutVersions() throws {
      try withFolder { folder in
        let newer = try container(Coded.self)
        try attach(newer, folder)
        let context = newer.newBackgroundContext()
        context.insert(Coded(id: 1, code: "a"))
        try context.save()
        try attach(try container(Plain.self), folder)
        context.insert(Coded(id: 2, code: "a"))
        #expect(throws: StoreError.self) { try context.save() }
        context.rollback()
        context.insert(Coded(id: 3, code: "b"))
        #expect(throws: StoreError.self) { try context.save() }
      }
    }

    @Test("Without migration a file whose column is not unique is told to differ")
    func withoutMigration() throws {
      try withFolder { folder in
        let first = try container(Plain.self)
        try attach(first, folder)
        try first.detach(persistentStores: first.persistentStores)
        let second = try container(Coded.self)
        #expect(
          reason { try attach(second, folder, migrates: false) }?
            .contains("Note.code is to be unique, and has no index for that") ?? false)
        try attach(second, folder)
      }
    }
  }
#endif
