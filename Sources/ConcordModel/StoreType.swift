/// A kind of store, by the medium that keeps its rows.
public struct StoreType: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }
  public init(stringLiteral value: String) { rawValue = value }
  public var description: String { rawValue }

  /// An SQLite file.
  public static let sqlite: StoreType = "SQLite"
  /// Memory, which is lost when the store is detached.
  public static let inMemory: StoreType = "InMemory"
  /// Core Data's atomic file, which Concord does not have: attaching such a store throws
  /// ``StoreError/unavailableStoreType(_:)``, unless the type is registered.
  public static let binary: StoreType = "Binary"
}

/// Core Data's name for ``StoreType/sqlite``.
public let NSSQLiteStoreType = StoreType.sqlite
/// Core Data's name for ``StoreType/inMemory``.
public let NSInMemoryStoreType = StoreType.inMemory
/// Core Data's name for ``StoreType/binary``, which attaching refuses.
public let NSBinaryStoreType = StoreType.binary
