import Concord
public import ConcordModel

/// The registry of store types. A registered type is used like the built-in ones.
///
/// ```swift
/// StoreFactory.register("PostgreSQL") { request in try PostgreSQLStore(request) }
/// try container.attachPersistentStore(for: StoreConfiguration(type: "PostgreSQL"))
/// ```
public enum StoreFactory {
  private static let registered = Locked<[StoreType: @Sendable (StoreRequest) throws -> any RowStore]>([:])

  /// Registers the closure that opens stores of a type, and replaces an earlier or built-in one.
  ///
  /// - Parameters:
  ///   - type: the type, which a ``StoreConfiguration`` names.
  ///   - open: a closure that opens a store when one is attached, on the thread of the caller. What it throws,
  ///     attaching throws.
  public static func register(_ type: StoreType, open: @escaping @Sendable (StoreRequest) throws -> any RowStore) {
    registered.withLock { $0[type] = open }
  }

  /// Registers a type whose stores may have no file of their own.
  package static func register(
    _ type: StoreType, hasFile: Bool, open: @escaping @Sendable (StoreRequest) throws -> any RowStore
  ) {
    if !hasFile { type.noteWithoutFile() }
    register(type, open: open)
  }

  static func open(_ request: StoreRequest) throws -> any RowStore {
    let type = request.configuration.type
    if let open = registered.withLock({ $0[type] }) { return try open(request) }
    if type == .inMemory {
      return MemoryStore(name: request.name, remembersDeletionsFor: request.configuration.deletionTime)
    }
    #if Persistence
      if type == .sqlite { return try SQLiteStore(request) }
    #endif
    throw StoreError.unavailableStoreType(type.rawValue)
  }
}
