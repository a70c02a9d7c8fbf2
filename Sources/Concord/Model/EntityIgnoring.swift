/// Says which stored properties of a type hold entities that no relation is to follow, so that debug builds do not report
/// them (``EntityStoreLogger/didFindUnrelatedEntity(in:at:advice:)``).
///
/// ```swift
/// struct Order: Aggregate, EntityIgnoring {
///   let id: String
///   var buyer: User
///   let bookAsSold: Book
///   var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.buyer)] }
///   static var ignoredEntityProperties: Set<String> { ["bookAsSold"] }
/// }
/// ```
///
/// `@EntityIgnored` writes it. Any type may conform, a plain struct inside an aggregate as well.
public protocol EntityIgnoring {
  /// The names of the properties, as they are declared.
  static var ignoredEntityProperties: Set<String> { get }
}
