/// A type of store: what keeps the rows.
public struct StoreType: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }
  public init(stringLiteral value: String) { rawValue = value }
  public var description: String { rawValue }

  /// A file.
  public static let sqlite: StoreType = "SQLite"
  /// Memory: gone when the store is detached.
  public static let inMemory: StoreType = "InMemory"
}

/// Core Data's name for ``StoreType/sqlite``.
public let NSSQLiteStoreType = StoreType.sqlite
/// Core Data's name for ``StoreType/inMemory``.
public let NSInMemoryStoreType = StoreType.inMemory
