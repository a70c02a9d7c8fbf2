import Concord
public import ConcordModel

/// How the stores of a type are opened. A type that is registered is used like the built-in ones.
///
/// ```swift
/// StoreFactory.register("PostgreSQL") { request in try PostgreSQLStore(request) }
/// try container.attachPersistentStore(for: StoreConfiguration(type: "PostgreSQL"))
/// ```
public enum StoreFactory {
  private static let registered = Locked<[StoreType: @Sendable (StoreRequest) throws -> any RowStore]>([:])

  /// Says how stores of a type are opened; a type that is built in is replaced.
  public static func register(_ type: StoreType, open: @escaping @Sendable (StoreRequest) throws -> any RowStore) {
    registered.withLock { $0[type] = open }
  }

  static func open(_ request: StoreRequest) throws -> any RowStore {
    let type = request.configuration.type
    if let open = registered.withLock({ $0[type] }) { return try open(request) }
    if type == .inMemory { return MemoryStore(name: request.name) }
    #if Persistence
      if type == .sqlite { return try SQLiteStore(request) }
    #endif
    throw StoreError.unavailableStoreType(type.rawValue)
  }
}
