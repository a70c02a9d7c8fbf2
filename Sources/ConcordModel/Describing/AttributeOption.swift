/// A constraint or an index on a persistent property.
public struct AttributeOption: Sendable, Hashable {
  enum Kind { case unique, indexed }
  let kind: Kind

  /// A unique property: no two entities have the same value. Any number may have `nil`.
  public static let unique = AttributeOption(kind: .unique)
  /// An indexed property: predicates and sorting by the property are fast.
  public static let indexed = AttributeOption(kind: .indexed)
}
