/// A value without an identity of its own that contains entities; most often an enum.
///
/// ```swift
/// enum MediaType: EntityWrapper {
///   case book(Book), game(Game)
///   func wrappedEntitiesKeyPaths<Root>(
///     relativeTo parent: WritableKeyPath<Root, Self>
///   ) -> [PartialIdentifiableKeyPath<Root>] {
///     [.init(parent.appending(path: \.book)), .init(parent.appending(path: \.game))]
///   }
/// }
/// ```
///
/// `book` is a computed `Book?` with a getter and a setter; `@EntityWrapper` writes all of it.
/// A setter that takes `nil` leaves the entity out; one that ignores `nil` makes the entity required.
public protocol EntityWrapper: Sendable {
  /// The places where entities stand in this very value, as seen from `parent`.
  func wrappedEntitiesKeyPaths<Root>(
    relativeTo parent: WritableKeyPath<Root, Self>
  ) -> [PartialIdentifiableKeyPath<Root>]

  /// The places where entities stand, when they are the same for every value; `nil` (the default) when they are not known
  /// to be. `@EntityWrapper` writes it.
  static var fixedRelations: [PartialIdentifiableKeyPath<Self>]? { get }
}

extension EntityWrapper {
  public static var fixedRelations: [PartialIdentifiableKeyPath<Self>]? { nil }
}
