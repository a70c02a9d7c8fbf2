/// The name of an alias: a long-lived reference to an entity, or to a collection of them.
///
/// ```swift
/// extension AliasKey where T == User { static let currentUser = AliasKey("user") }
/// ```
///
/// Two keys are the same when their names and their types are.
public struct AliasKey<T>: Hashable, Sendable, ExpressibleByStringLiteral {
  /// The name, as given.
  public let name: String

  public init(_ name: String) { self.name = name }

  public init(stringLiteral value: String) { self.name = value }
}
