import Concord
import Foundation
import Testing

@testable import ConcordPersistence

@Suite("Containers")
struct ContainerTests {
  private typealias Container = GenericPersistentContainer<ContextStrategy.Mixed>

  private func withFolder<R>(_ body: (URL) async throws -> R) async throws -> R {
    let folder = FileManager.default.temporaryDirectory.appending(path: "concord-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder)
  }

  @Test("A configuration has defaults, and is equal to another one with the same")
  func configurations() {
    let configuration = StoreConfiguration()
    #expect(configuration == StoreConfiguration(fileName: StoreConfiguration.Default.fileName))
    #expect(configuration.name == StoreConfiguration.Default.name)
    #expect(configuration.type == NSSQLiteStoreType && !configuration.overwriteIncompatibleStore)
    #expect(configuration != StoreConfiguration(name: "A"))
    #expect(configuration != StoreConfiguration(fileName: "a"))
    #expect(configuration != StoreConfiguration(type: NSInMemoryStoreType))
    #expect(configuration != StoreConfiguration(overwriteIncompatibleStore: true))
    #expect(configuration != StoreConfiguration(options: [:]))
    #expect(StoreConfiguration(options: ["a": 1]) == StoreConfiguration(options: ["a": 1]))
    #expect(
      "\(StoreConfiguration(fileName: "f", name: "N"))"
        == "<StoreConfiguration> (fileName: 'f', name: 'N', type: SQLite)")
  }

  @Test("A container made with the name alone finds the registered model; without one, attaching says so")
  func registeredModels() async throws {
    let name = "Registered \(UUID().uuidString)"
    let missing = Container(name: name)
    #expect(
      reason { try missing.attachPersistentStore(for: StoreConfiguration(type: .inMemory)) }
        == "no model is registered under the name '\(name)'")
    try Model(name, entities: [Review.self]).register()
    let container: any PersistentContainer = Container(name: name)
    #expect(container.model.entities.map(\.name) == ["Review"])
    #expect(container.managedObjectModel === container.model)
    try container.attachPersistentStore(for: StoreConfiguration(type: .inMemory))
    container.viewContext.insert(Review(id: 1, text: ""))
    try container.viewContext.save()
    try await container.flush()
    #expect(try container.newBackgroundContext().find(Review.self, id: 1) != nil)
  }

  @Test("The default location is a folder of the user's, whatever the strategy")
  func defaultLocation() {
    let location = GenericPersistentContainer<ContextStrategy.Direct>.defaultStoreLocation()
    #expect(location.lastPathComponent == "Concord")
    #expect(location == Container.defaultStoreLocation())
  }

  @Test("Contexts of a subclass can be made")
  func genericContexts() async throws {
    final class Counting: BackgroundContext, @unchecked Sendable {
      let count = Locked(0)
    }
    for strategy in StrategyKind.allCases {
      try await strategy.withContainer(.memory) { container in
        let context: Counting = container.newGenericBackgroundContext()
        context.insert(Review(id: 1, text: ""))
        try context.save()
        try await container.flush()
        #expect(try container.stored(Review.self, id: 1) != nil)
      }
    }
  }

  @Test("A store that cannot be attached leaves none of those attached with it")
  func attachingSeveral() async throws {
    try await withFolder { folder in
      let container = Container(name: "Library", model: try libraryModel())
      #expect(throws: StoreError.self) {
        try container.attachPersistentStores(
          at: folder, for: [StoreConfiguration(type: .inMemory), StoreConfiguration(type: "Nothing")])
      }
      #expect(container.persistentStores.isEmpty)
      #expect(throws: StoreError.self) { try container.viewContext.find(Review.self, id: 1) }
    }
  }

  @Test("Types are kept in the store of their configuration, per user beside global", arguments: StrategyKind.allCases)
  func perUser(_ strategy: StrategyKind) async throws {
    try await withFolder { folder in
      let model = try Model(
        "Library", entities: [],
        configurations: [
          "GlobalData": [Author.self], "UserData": [Review.self], "TransientData": [Team.self, Person.self],
        ])
      let container = strategy.container(model)
      let types: StoreType = StoreKind.allCases.contains { $0.type == .sqlite } ? .sqlite : .inMemory
      try container.attachPersistentStore(at: folder, for: StoreConfiguration(name: "GlobalData", type: types))
      #expect(reason { _ = try container.viewContext.find(Review.self, id: 1) } == "no attached store keeps Review")
      for user in ["ann", "bob"] {
        let stores = try container.attachPersistentStores(
          at: folder.appending(path: user),
          for: [
            StoreConfiguration(name: "TransientData", type: .inMemory),
            StoreConfiguration(name: "UserData", type: types),
          ])
        let context = container.newBackgroundContext()
        context.insert(Author(id: user, name: user))
        context.insert(Review(id: 1, text: user))
        context.insert(Team(id: 1, name: user))
        try context.save()
        try await container.flush()
        let observer = try #require(try container.viewContext.find(Review.self, id: 1))
        let list = try container.viewContext.query(FetchDescriptor<Review>())
        #expect(observer.value.text == user && list.value.count == 1)
        try container.detach(persistentStores: stores)
        #expect(try await eventually { observer.isRemoved && list.value.isEmpty })
        #expect(reason { _ = try container.viewContext.find(Review.self, id: 1) } == "no attached store keeps Review")
        #expect(
          reason {
            context.insert(Review(id: 2, text: ""))
            try context.save()
            try container.viewContext.save()
          } == "no attached store keeps Review")
        context.rollback()
        container.viewContext.rollback()
        #expect(reason { try container.detach(persistentStore: stores[0]) }?.contains("not attached") == true)
      }
      #expect(try container.newBackgroundContext().count(FetchDescriptor<Author>()) == 2)
      if types == .sqlite {
        // What ann has saved is there when she comes again.
        try container.attachPersistentStore(
          at: folder.appending(path: "ann"), for: StoreConfiguration(name: "UserData", type: types))
        #expect(try container.viewContext.find(Review.self, id: 1)?.value.text == "ann")
      }
    }
  }

  @Test("A save that is told after its store was detached is no error of the view, and leaves nothing behind")
  func toldAfterDetach() throws {
    let errors = Locked<[any Error]>([])
    let coordinator = PersistentStoreCoordinator(model: try libraryModel())
    let rows = MemoryStore(name: "rows")
    try coordinator.attach(rows, configuration: "")
    let view = ViewContext(parent: coordinator, delivery: .immediate) { error in errors.withLock { $0.append(error) } }
    let context = BackgroundContext(parent: coordinator)
    context.insert(Review(id: 1, text: "one"))
    try context.save()
    let review = try #require(try view.find(Review.self, id: 1))
    let list = try view.query(FetchDescriptor<Review>())
    try view.store.transaction { _ in
      // The view waits for the store's turn until the store is gone.
      try context.update(Review.self, id: 1) { $0.text = "two" }
      try context.save()
      coordinator.detach(rows)
    }
    coordinator.settle()
    #expect(errors.withLock { $0.map { "\($0)" } } == [])
    #expect(view.store.value(Review.self, id: 1) == nil && list.value == [])
    withExtendedLifetime(review) {}
  }

  @Test("What waits for a store that is gone keeps no other store attached, and is written when its own comes back")
  func waitingForAStore() async throws {
    let model = try Model(
      "Library", entities: [], configurations: ["GlobalData": [Author.self], "UserData": [Review.self]])
    let container = StrategyKind.mixed.container(model) { _ in }
    let folder = FileManager.default.temporaryDirectory.appending(path: "concord-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let authors = try container.attachPersistentStore(
      at: folder, for: StoreConfiguration(name: "GlobalData", type: .inMemory))
    let (reviews, gate) = try GateStore.attach(to: container, configuration: "UserData")
    gate.closeGate()
    container.viewContext.insert(Review(id: 1, text: "late"))
    try container.viewContext.save()
    // It is gone before it is written.
    container.persistentStoreCoordinator.detach(reviews)
    gate.openGate()
    try await Task.sleep(for: .milliseconds(20))
    try container.detach(persistentStore: authors)
    try container.persistentStoreCoordinator.attach(reviews)
    try await container.flush()
    #expect(try container.stored(Review.self, id: 1)?.text == "late")
  }

  @Test("What waits for a store that is gone holds up nothing that is kept elsewhere")
  func othersDoNotWait() async throws {
    let model = try Model(
      "Library", entities: [], configurations: ["GlobalData": [Author.self], "UserData": [Review.self]])
    let container = StrategyKind.mixed.container(model) { _ in }
    let folder = FileManager.default.temporaryDirectory.appending(path: "concord-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    try container.attachPersistentStore(at: folder, for: StoreConfiguration(name: "GlobalData", type: .inMemory))
    let (reviews, gate) = try GateStore.attach(to: container, configuration: "UserData")
    let view = container.viewContext
    gate.closeGate()
    for id in 1...3 {
      view.insert(Review(id: id, text: "waits"))
      try view.save()
    }
    container.persistentStoreCoordinator.detach(reviews)
    gate.openGate()
    for id in 1...3 {
      view.insert(Author(id: "\(id)", name: "goes on"))
      try view.save()
    }
    await #expect(throws: StoreError.self) { try await container.flush() }
    for id in 1...3 { #expect(try container.stored(Author.self, id: "\(id)")?.name == "goes on") }
    try container.persistentStoreCoordinator.attach(reviews)
    try await container.flush()
    for id in 1...3 { #expect(try container.stored(Review.self, id: id)?.text == "waits") }
  }

  @Test("Stores come and go while contexts are at work", arguments: StoreKind.combinationsOfManySteps)
  func comingAndGoing(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
    try await withFolder { folder in
      let container = strategy.container(try libraryModel()) { _ in }
      let isDone = Locked(false)
      try await withThrowingTaskGroup(of: Void.self) { group in
        // Also if attaching fails: the group waits for the others then.
        defer { isDone.withLock { $0 = true } }
        for number in 0..<2 {
          group.addTask {
            while !isDone.withLock({ $0 }) {
              let context = container.newBackgroundContext()
              context.insert(Review(id: number, text: ""))
              // A typed error, or nothing; never anything else.
              do {
                try context.save()
                _ = try container.viewContext.find(Review.self, id: number)
              } catch is StoreError {}
              await Task.yield()
            }
          }
        }
        for _ in 0..<15 {
          let store = try container.attachPersistentStore(at: folder, for: StoreConfiguration(type: kind.type))
          try await Task.sleep(for: .milliseconds(3))
          do { try container.detach(persistentStore: store) } catch is StoreError {}
        }
        isDone.withLock { $0 = true }
        try await group.waitForAll()
      }
    }
  }

  #if Persistence
    @Test("Files are named after container, configuration and type, in folders made as needed, for their owner only")
    func files() async throws {
      try await withFolder { folder in
        let model = try Model(
          "Library", entities: [Review.self],
          configurations: ["PersistentData": [Team.self, Person.self], "X": [Author.self]])
        let container = Container(name: "Library", model: model)
        let deep = folder.appending(path: "a/b")
        let stores = try container.attachPersistentStores(
          at: deep,
          for: [
            StoreConfiguration(), StoreConfiguration(name: "PersistentData"),
            StoreConfiguration(fileName: "x.db", name: "X"),
          ])
        #expect(
          stores.map { $0.url?.lastPathComponent } == ["Library.sqlite", "Library.persistentdata.sqlite", "x.db"])
        container.viewContext.insert(Review(id: 1, text: ""))
        try container.viewContext.save()
        try await container.flush()
        let names = try FileManager.default.contentsOfDirectory(atPath: deep.path)
        #expect(names.contains("Library.sqlite-wal"))
        for name in names {
          let attributes = try FileManager.default.attributesOfItem(atPath: deep.appending(path: name).path)
          #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600, "\(name)")
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: deep.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o700)
      }
    }

    @Test("A file is attached once, whatever path leads to it")
    func sameFile() async throws {
      try await withFolder { folder in
        let container = Container(name: "Library", model: try libraryModel())
        let store = try container.attachPersistentStore(at: folder)
        try FileManager.default.createSymbolicLink(
          at: folder.appending(path: "link"), withDestinationURL: folder)
        for other in [folder, folder.appending(path: "../\(folder.lastPathComponent)"), folder.appending(path: "link")]
        {
          #expect(
            reason { try container.attachPersistentStore(at: other, for: StoreConfiguration()) }
              == "the store 'Library.sqlite' is attached already")
        }
        #expect(container.persistentStores == [store])
        try container.detach(persistentStore: store)
        #expect(store.url?.lastPathComponent == "Library.sqlite")
        try container.attachPersistentStore(at: folder)
      }
    }
  #endif
}
