import ConcordPersistence
import Foundation
import Testing

/// The code of the earlier system's documentation, with structs in place of managed objects.
@Suite("Coherence's documentation, word for word", .serialized)
struct CoherenceTests {
  struct User: PersistentEntity, Equatable {
    let id: String
    var firstName: String
    var lastName: String

    static let persistentProperties: [PersistentProperty<User>] = [
      .init("id", \.id), .init("firstName", \.firstName), .init("lastName", \.lastName),
    ]
    init(from row: inout RowReader) throws {
      self.init(id: try row.read(), firstName: try row.read(), lastName: try row.read())
    }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(firstName)
      try row.write(lastName)
    }
    init(id: String, firstName: String, lastName: String) {
      self.id = id
      self.firstName = firstName
      self.lastName = lastName
    }
  }

  struct Setting: PersistentEntity, Equatable {
    let id: String
    var value: String

    static let persistentProperties: [PersistentProperty<Setting>] = [.init("id", \.id), .init("value", \.value)]
    init(from row: inout RowReader) throws { self.init(id: try row.read(), value: try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(value)
    }
    init(id: String, value: String) {
      self.id = id
      self.value = value
    }
  }

  struct Token: PersistentEntity, Equatable {
    let id: String

    static let persistentProperties: [PersistentProperty<Token>] = [.init("id", \.id)]
    init(from row: inout RowReader) throws { self.init(id: try row.read()) }
    func write(to row: inout RowWriter) throws { try row.write(id) }
    init(id: String) { self.id = id }
  }

  /// Registers the model, and gives a folder of its own.
  private func withModel(_ body: (URL) async throws -> Void) async throws {
    try Model(
      "MyModelName", entities: [],
      configurations: ["TransientData": [Token.self], "PersistentData": [Setting.self], "GlobalData": [User.self]]
    ).register()
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("concord-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder)
  }

  #if Persistence
    private let persistentType = NSSQLiteStoreType
  #else
    private let persistentType = NSInMemoryStoreType
  #endif

  private func loggedInUserName() -> String { "tony" }

  @Test("Custom configuration, user per configuration, global store")
  func startup() async throws {
    try await withModel { folder in
      let container: PersistentContainer = GenericPersistentContainer<ContextStrategy.Mixed>(name: "MyModelName")

      try container.attachPersistentStore(
        at: folder, for: StoreConfiguration(name: "GlobalData", type: persistentType))

      let userName = loggedInUserName() /* Determine user that is logged */

      let stores = try container.attachPersistentStores(
        at: URL(fileURLWithPath: "\(folder.path)/\(userName)"),
        for: [
          StoreConfiguration(name: "TransientData", type: NSInMemoryStoreType),
          StoreConfiguration(name: "PersistentData", type: persistentType),
        ])

      #expect(stores.map(\.configurationName) == ["TransientData", "PersistentData"])
      #expect(container.name == "MyModelName" && container.managedObjectModel.name == "MyModelName")
      #expect(container.persistentStoreCoordinator.persistentStores.count == 3)
      if persistentType == NSSQLiteStoreType {
        #expect(
          FileManager.default.fileExists(atPath: "\(folder.path)/tony/MyModelName.persistentdata.sqlite"))
      }

      let backgroundContext = container.newBackgroundContext()
      try backgroundContext.performAndWait {
        backgroundContext.insert(User(id: "1", firstName: "Tony", lastName: "Stone"))
        backgroundContext.insert(Setting(id: "color", value: "blue"))
        backgroundContext.insert(Token(id: "t"))
        try backgroundContext.save()
      }
      #expect(try container.viewContext.find(User.self, id: "1")?.value.lastName == "Stone")

      try container.detach(persistentStores: stores)
      try container.detach(persistentStore: container.persistentStores[0])
      #expect(container.persistentStores.isEmpty)
    }
  }

  @Test("Defaults, an error block, and each strategy by its name")
  func strategies() async throws {
    try await withModel { folder in
      let containers: [PersistentContainer] = [
        GenericPersistentContainer<ContextStrategy.Direct>(name: "MyModelName"),
        GenericPersistentContainer<ContextStrategy.DirectIndependent>(
          name: "MyModelName",
          asyncErrorBlock: { error in
            Issue.record(error)
          }),
        GenericPersistentContainer<ContextStrategy.IndirectNested>(name: "MyModelName", logTag: "Test"),
        GenericPersistentContainer<ContextStrategy.Mixed>(
          name: "MyModelName", managedObjectModel: try Model("MyModelName", entities: [Setting.self])),
      ]
      for container in containers {
        try container.attachPersistentStores(for: [StoreConfiguration(type: NSInMemoryStoreType)])
        let viewContext = container.viewContext
        viewContext.insert(Setting(id: "1", value: "one"))
        try viewContext.save()
        try await container.flush()
        let context: BackgroundContext = container.newGenericBackgroundContext()
        #expect(try context.find(Setting.self, id: "1") == Setting(id: "1", value: "one"))
      }
    }
  }

  @Test("A strategy of one's own subclasses ContextStrategy and conforms to ContextStrategyType")
  func ownStrategy() async throws {
    final class Own: ContextStrategy, ContextStrategyType, @unchecked Sendable {
      let viewContext: ViewContext

      required init(
        persistentStoreCoordinator: PersistentStoreCoordinator, errorHandler: @escaping AsyncErrorHandlerBlock
      ) {
        viewContext = ViewContext(parent: persistentStoreCoordinator, errorHandler: errorHandler)
        super.init(persistentStoreCoordinator: persistentStoreCoordinator, errorHandler: errorHandler)
      }

      func newBackgroundContext<T: BackgroundContext>() -> T { return T(parent: persistentStoreCoordinator) }
    }
    try await withModel { _ in
      let container = GenericPersistentContainer<Own>(name: "MyModelName")
      try container.attachPersistentStore(for: StoreConfiguration(type: NSInMemoryStoreType))
      let context = container.newBackgroundContext()
      context.insert(Setting(id: "1", value: "one"))
      try context.save()
      #expect(try container.viewContext.find(Setting.self, id: "1") != nil)
    }
  }
}
