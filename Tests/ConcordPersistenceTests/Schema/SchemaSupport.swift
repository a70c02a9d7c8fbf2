#if Persistence
  import Foundation
  import GRDB

  @testable import ConcordPersistence

  /// Attaches a store to a container with a model, and detaches it.
  func attached<R>(
    _ folder: URL, _ types: [any PersistentEntity.Type],
    _ migrations: [ColumnMigration] = [], version: Int = 0, in kind: StoreKind = .sqlite,
    _ body: (BackgroundContext) throws -> R
  ) throws -> R {
    let model = try Model("Types", entities: types, migrations: migrations, version: version)
    let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Types", model: model)
    let store = try container.attachPersistentStore(at: folder, for: StoreConfiguration(type: kind.type))
    defer { try? container.detach(persistentStore: store) }
    return try body(container.newBackgroundContext())
  }

  /// Makes a file look as files did before the shapes of tables were noted in them.
  func forgetShapes(_ folder: URL) throws {
    let queue = try DatabaseQueue(path: folder.appending(path: "Types.sqlite").path)
    try queue.write { db in
      try db.execute(
        sql: "ALTER TABLE concord_schema DROP COLUMN shape; ALTER TABLE concord_schema DROP COLUMN carried")
    }
    try queue.close()
  }
#endif
