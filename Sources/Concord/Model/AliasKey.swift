/// The name of an alias: a long-lived reference to an entity, or to a collection of entities.
///
/// ```swift
/// extension AliasKey where T == User { static let currentUser = AliasKey("user") }
/// ```
///
/// Two keys are equal if their names and their types are equal.
public struct AliasKey<T>: Hashable, Sendable, ExpressibleByStringLiteral {
  /// The name of the alias.
  public let name: String

  /// Creates a key with a name.
  public init(_ name: String) { self.name = name }

  public init(stringLiteral value: String) { self.name = value }
}
