#if Macros
  import ConcordPersistence
  import Foundation

  typealias Container = GenericPersistentContainer<ContextStrategy.Direct>

  /// Every type of store: a test that takes it is run with each.
  enum Storage: String, CaseIterable {
    case memory
    #if Persistence
      case sqlite
    #endif

    private var type: StoreType {
      switch self {
      case .memory: NSInMemoryStoreType
      #if Persistence
        case .sqlite: NSSQLiteStoreType
      #endif
      }
    }

    /// Makes a container with one store of this type, which goes at the end of the body.
    func withContainer<R>(_ entities: [any PersistentEntity.Type], _ body: (Container) throws -> R) throws -> R {
      try withFolder { folder in
        let container = Container(name: "Test", model: try Model("Test", entities: entities))
        try container.attachPersistentStore(at: folder, for: StoreConfiguration(type: type))
        defer { try? container.detach(persistentStores: container.persistentStores) }
        return try body(container)
      }
    }
  }

  /// A folder of its own, which goes at the end of the body.
  func withFolder<R>(_ body: (URL) throws -> R) throws -> R {
    let folder = FileManager.default.temporaryDirectory.appending(path: "concord-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder)
  }
#endif
