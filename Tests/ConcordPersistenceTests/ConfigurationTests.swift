import Concord
import Foundation
import Testing

@testable import ConcordPersistence

@Suite("Configurations")
struct ConfigurationTests {
  private func container() throws -> GenericPersistentContainer<ContextStrategy.Direct> {
    let model = try Model(
      "Library", entities: [Book.self, Author.self],
      configurations: ["Reviews": [Review.self], "Teams": [Team.self, Person.self]])
    return GenericPersistentContainer(name: "Library", model: model)
  }

  private func save(_ container: some PersistentContainer) throws {
    let context = container.newBackgroundContext()
    for number in 1...3 {
      context.insert(
        Book(
          id: "\(number)", title: "\(number)", author: Author(id: "a", name: "A"),
          reviews: [Review(id: number, text: "text \(number)")]))
    }
    try context.save()
  }

  private func reviews(_ container: some PersistentContainer) throws -> [[String]] {
    try container.newBackgroundContext().fetch(FetchDescriptor<Book>()).map { $0.reviews.map(\.text) }
  }

  @Test(
    "A configuration that the model does not declare is refused, with those that it declares",
    arguments: StoreKind.allCases)
  func unknown(_ kind: StoreKind) throws {
    try withFolder { folder in
      let container = try container()
      #expect(
        reason {
          try container.attachPersistentStores(
            at: folder,
            for: [
              StoreConfiguration(name: "Reviews", type: .inMemory), StoreConfiguration(name: "Data", type: kind.type),
            ])
        } == "the model 'Library' declares no configuration 'Data'; it declares 'Reviews', 'Teams'")
      #expect(container.persistentStores.isEmpty)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
      let plain = GenericPersistentContainer<ContextStrategy.Mixed>(
        name: "Library", model: try Model("Library", entities: [Review.self]))
      #expect(
        reason {
          try plain.attachPersistentStore(at: folder, for: StoreConfiguration(name: "Reviews", type: kind.type))
        }
          == "the model 'Library' declares no configuration 'Reviews'; it declares none")
      #expect(
        reason { try container.persistentStoreCoordinator.attach(MemoryStore(name: "m"), configuration: "Data") }
          == "the model 'Library' declares no configuration 'Data'; it declares 'Reviews', 'Teams'")
    }
  }

  @Test(
    "Attaching says that a store without a configuration has entities of the one that is attached, in whatever order",
    arguments: StoreKind.allCases)
  func keptElsewhere(_ kind: StoreKind) throws {
    try withFolder { folder in
      let container = try container()
      let all = try container.attachPersistentStore(at: folder, for: StoreConfiguration(type: kind.type))
      try save(container)
      let teams = try container.attachPersistentStore(
        at: folder, for: StoreConfiguration(name: "Teams", type: kind.type))
      let name = kind.type == .inMemory ? "Library.Reviews" : "Library.reviews.\(kind.type.rawValue.lowercased())"
      let message = "the store '\(all.rows.name)' has rows of 'Review', which belong into '\(name)'"
      let configuration = StoreConfiguration(name: "Reviews", type: kind.type)
      #expect(reason { try container.attachPersistentStore(at: folder, for: configuration) } == message)
      #expect(container.persistentStores == [all, teams])
      #expect(try reviews(container) == [["text 1"], ["text 2"], ["text 3"]])
      if kind.type == .inMemory { return }
      try container.detach(persistentStore: all)
      try container.attachPersistentStore(at: folder, for: configuration)
      #expect(
        reason { try container.attachPersistentStore(at: folder, for: StoreConfiguration(type: kind.type)) } == message)
    }
  }

  @Test("Attaching moves them if it is to, and what refers to them keeps them", arguments: StoreKind.allCases)
  func moving(_ kind: StoreKind) throws {
    try withFolder { folder in
      let container = try container()
      let all = try container.attachPersistentStore(at: folder, for: StoreConfiguration(type: kind.type))
      try save(container)
      // A move that was interrupted after a part was copied goes on.
      let part = try self.container()
      let configuration = StoreConfiguration(
        name: "Reviews", type: kind.type, options: [ConcordMoveEntitiesOption: true])
      let early = try part.attachPersistentStore(at: folder, for: configuration)
      let context = part.newBackgroundContext()
      context.insert(Review(id: 1, text: "stale"), modifiedAt: -1)
      try context.save()
      try part.detach(persistentStore: early)
      let store = try container.attachPersistentStore(at: folder, for: configuration)
      #expect(try reviews(container) == [["text 1"], ["text 2"], ["text 3"]])
      let review = try container.model.entity(Review.self)
      #expect(try all.rows.read { try $0.count(RowQuery(review)) } == 0)
      #expect(try store.rows.read { try $0.count(RowQuery(review)) } == 3)
      let view = try container.viewContext.query(FetchDescriptor<Review>())
      #expect(view.value.count == 3)
    }
  }

  #if Persistence
    @Test("Nothing is moved from a file into memory")
    func movingIntoMemory() throws {
      try withFolder { folder in
        let container = try container()
        try container.attachPersistentStore(at: folder)
        try save(container)
        let configuration = StoreConfiguration(
          name: "Reviews", type: .inMemory, options: [ConcordMoveEntitiesOption: true])
        #expect(
          reason { try container.attachPersistentStore(at: folder, for: configuration) }
            == "the store 'Library.sqlite' has rows of 'Review', which belong into 'Library.Reviews'")
        #expect(try reviews(container) == [["text 1"], ["text 2"], ["text 3"]])
      }
    }
  #endif

  @Test("Configurations whose names differ by case alone need names of files, since their default ones are one")
  func namesByCase() throws {
    try withFolder { folder in
      let model = try Model(
        "Library", entities: [], configurations: ["Data": [Review.self], "data": [Author.self]])
      let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Library", model: model)
      try container.attachPersistentStore(at: folder, for: StoreConfiguration(name: "Data"))
      #expect(
        reason { try container.attachPersistentStore(at: folder, for: StoreConfiguration(name: "data")) }
          == "the store 'Library.data.sqlite' failed: it is that of the configuration 'Data', since names of files are in lower case; give one a fileName"
      )
      #expect(
        reason { try container.attachPersistentStore(at: folder, for: StoreConfiguration(name: "Data")) }
          == "the store 'Library.data.sqlite' is attached already")
      try container.attachPersistentStore(
        at: folder, for: StoreConfiguration(fileName: "authors.sqlite", name: "data"))
      let context = container.newBackgroundContext()
      context.insert(Review(id: 1, text: ""))
      context.insert(Author(id: "1", name: ""))
      try context.save()
      #expect(try context.count(FetchDescriptor<Review>()) == 1)
      #expect(try context.count(FetchDescriptor<Author>()) == 1)
    }
  }

  @Test("A type of store that is not there is refused by its name")
  func unavailable() throws {
    try withFolder { folder in
      let container = try container()
      for type in [NSBinaryStoreType, "Nothing"] {
        #expect(
          reason { try container.attachPersistentStore(at: folder, for: StoreConfiguration(type: type)) }
            == "there are no stores of type '\(type)': use 'SQLite' or 'InMemory', or register the type")
      }
      #if !Persistence
        #expect(
          reason { try container.attachPersistentStore(at: folder, for: StoreConfiguration()) }
            == "stores of type 'SQLite' are not built in: the package trait 'Persistence' is off")
      #endif
    }
  }
}
