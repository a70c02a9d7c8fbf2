import ConcordTestShared
import Foundation
import Testing

@testable import ConcordPersistence

#if PostgreSQL
  @testable import ConcordPostgreSQL
#endif

/// Every type of store: a test that takes it is run with each.
enum StoreKind: String, CaseIterable, CustomTestStringConvertible {
  case memory
  #if Persistence
    case sqlite
  #endif
  #if PostgreSQL
    case postgreSQL
  #endif

  /// All that this machine has.
  static let allCases: [StoreKind] = {
    var cases: [StoreKind] = [.memory]
    #if Persistence
      cases.append(.sqlite)
    #endif
    #if PostgreSQL
      if PostgreSQLServer.isInstalled { cases.append(.postgreSQL) }
    #endif
    return cases
  }()

  /// Those whose stores several containers and processes share.
  static var lasting: [StoreKind] { allCases.filter { $0 != .memory } }

  /// What a container or a process attaches that is to share a store: a file in a folder, or a schema of a database that is named after it.
  func place(_ folder: URL) throws -> String {
    #if PostgreSQL
      if self == .postgreSQL { return "\(try PostgreSQLServer.shared.get().url)#\(folder.lastPathComponent)" }
    #endif
    return folder.path
  }

  /// Whether a test of many steps runs with it whatever else it varies. With a database, each of whose steps is a round trip, only where
  /// `CONCORD_LONG` says so.
  var isForManySteps: Bool {
    !isShared || TestOptions.isLong
  }

  /// The steps of a random test that are done with it, where others do so many: a tenth with a database, unless `CONCORD_LONG` says otherwise.
  func share(of steps: Int) -> Int { isForManySteps ? steps : max(1, steps / 10) }

  /// Whether it is a server, each of whose steps is a round trip.
  var isShared: Bool {
    #if PostgreSQL
      self == .postgreSQL
    #else
      false
    #endif
  }

  var testDescription: String { rawValue }

  /// Makes a store with nothing in it, whose files go at the end of the body.
  @discardableResult
  func withStore<R>(_ model: Model, _ body: (any RowStore) throws -> R) throws -> R {
    try withFolder { folder in
      let store = try open(model, in: folder)
      defer { try? store.close() }
      return try body(store)
    }
  }

  /// The same, attached.
  @discardableResult
  func withCoordinator<R>(_ model: Model, _ body: (PersistentStoreCoordinator) throws -> R) throws -> R {
    try withStore(model) { store in
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.attach(store, configuration: "")
      return try body(coordinator)
    }
  }

  func open(_ model: Model, in folder: URL) throws -> any RowStore {
    try open(model, at: folder.appending(path: "test.sqlite"))
  }

  /// Opens what another program has open, too.
  func open(
    _ model: Model, at file: URL, remembersDeletionsFor deletionTime: TimeInterval = DeletionLimits.time
  ) throws -> any RowStore {
    switch self {
    case .memory: MemoryStore(name: "memory", remembersDeletionsFor: deletionTime)
    #if Persistence
      case .sqlite: try SQLiteStore(url: file, entities: model.entities, remembersDeletionsFor: deletionTime)
    #endif
    #if PostgreSQL
      case .postgreSQL: try Self.open(model, model.entities, file, "", deletionTime)
    #endif
    }
  }
}

#if PostgreSQL
  extension StoreKind {
    /// Databases in which each URL has a schema of its own, so that they are as far from each other as files are.
    static let postgreSQLType: StoreType = {
      let type: StoreType = "PostgreSQLSchema"
      StoreFactory.register(type) { request in
        guard let url = request.url else { throw StoreError.storeFailed(store: request.name, reason: "no URL") }
        return try open(
          request.model, request.entities, url, request.configuration.name ?? "", request.configuration.deletionTime)
      }
      return type
    }()

    static func open(
      _ model: Model, _ entities: [EntityDescription], _ url: URL, _ configuration: String,
      _ deletionTime: TimeInterval = DeletionLimits.time
    ) throws -> PostgreSQLStore {
      let parts = url.standardizedFileURL.pathComponents.suffix(2)
      var options = PostgreSQLOptions(
        connection: try PostgreSQLServer.shared.get().url, schema: parts.joined(separator: "/"))
      options.idleTime = 5
      return try PostgreSQLStore(
        name: url.lastPathComponent, options, model: model, entities: entities, configuration: configuration,
        remembersDeletionsFor: deletionTime)
    }
  }
#endif

/// A folder of its own, which goes at the end of the body.
func withFolder<R>(_ body: (URL) throws -> R) throws -> R {
  let folder = FileManager.default.temporaryDirectory.appending(path: "concord-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  return try body(folder)
}

extension PersistentStoreCoordinator {
  func newContext() -> BackgroundContext { BackgroundContext(parent: self) }
}

func libraryModel() throws -> Model {
  try Model(
    "Library",
    entities: [
      Author.self, Review.self, Book.self, Person.self, Team.self, Everything.self, Station.self, Ring.self,
    ])
}

/// What an error that is thrown says; `nil` if none is.
func reason(_ body: () throws -> Void) -> String? {
  do {
    try body()
    return nil
  } catch { return "\(error)" }
}
