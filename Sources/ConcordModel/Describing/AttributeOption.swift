/// What else is true of a property.
public struct AttributeOption: Sendable, Hashable {
  enum Kind { case unique, indexed }
  let kind: Kind

  /// No two entities have the same value. `nil` is no value.
  public static let unique = AttributeOption(kind: .unique)
  /// An index makes predicates and sorting by it fast.
  public static let indexed = AttributeOption(kind: .indexed)
}
