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
/// The store keeps every contained entity on its own and shows its newest value inside the aggregate.
public protocol Aggregate: Identifiable, Sendable {
  /// The places where entities stand, in an order of your choice. They may differ from value to value.
  ///
  /// Asked once for each value that is stored, unless ``fixedRelations`` gives them for all values.
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { get }

  /// The places where entities stand, when they are the same for every value; `nil` (the default) when they are not
  /// known to be. Asked once for each store, which makes storing faster. `@Entity` writes it.
  static var fixedRelations: [PartialIdentifiableKeyPath<Self>]? { get }
}

extension Aggregate {
  public static var fixedRelations: [PartialIdentifiableKeyPath<Self>]? { nil }
}
