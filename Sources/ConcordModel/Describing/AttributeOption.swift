/// A constraint or an index on a persistent property.
public struct AttributeOption: Sendable, Hashable {
  enum Kind: Hashable {
    case unique, indexed
    case searchable(weight: Double)
  }
  let kind: Kind

  /// A unique property: no two entities have the same value. Any number may have `nil`.
  public static let unique = AttributeOption(kind: .unique)
  /// An indexed property: predicates and sorting by the property are fast.
  public static let indexed = AttributeOption(kind: .indexed)
  /// A text whose words are found by a search. A store that can keeps an index of them.
  public static let searchable = AttributeOption(kind: .searchable(weight: 1))

  /// Returns the option of a text whose words are found by a search, and count more or less than those of other properties in the order of
  /// the hits.
  ///
  /// - Parameter weight: what a word counts; 1 is usual. What is not a positive number is 1.
  public static func searchable(weight: Double) -> AttributeOption {
    AttributeOption(kind: .searchable(weight: weight > 0 && weight.isFinite ? weight : 1))
  }

  /// The weight of a searchable text; `nil` for other options.
  var searchWeight: Double? { if case .searchable(let weight) = kind { weight } else { nil } }
}
