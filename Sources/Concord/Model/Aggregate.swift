/// An entity that contains entities.
///
/// ```swift
/// struct AuthorBooks: Aggregate {
///   var id: Author.ID { author.id }
///   var author: Author
///   var books: [Book]
///   var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.author), .init(\.books)] }
/// }
/// ```
///
/// The store keeps each contained entity separately, and shows its newest value inside the aggregate.
public protocol Aggregate: Identifiable, Sendable {
  /// The places in the value where entities stand, in any order. They may differ from value to value.
  ///
  /// The store reads the property once for each stored value, unless ``fixedRelations`` gives the places of all values.
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { get }

  /// The places where entities stand, if all values have the same; `nil` (the default) if they may differ.
  ///
  /// The store reads the property once, which makes storing faster. `@Entity` generates it.
  static var fixedRelations: [PartialIdentifiableKeyPath<Self>]? { get }
}

extension Aggregate {
  public static var fixedRelations: [PartialIdentifiableKeyPath<Self>]? { nil }
}
