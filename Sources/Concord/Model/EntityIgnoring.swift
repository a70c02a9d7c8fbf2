/// A type with stored properties whose entities no relation follows on purpose, so that debug builds do not report them
/// (``EntityStoreLogger/didFindUnrelatedEntity(in:at:advice:)``).
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
/// `@EntityIgnored` generates the conformance. Any type may conform, also a plain struct inside an aggregate.
public protocol EntityIgnoring {
  /// The names of the ignored properties, as they are declared.
  static var ignoredEntityProperties: Set<String> { get }
}
