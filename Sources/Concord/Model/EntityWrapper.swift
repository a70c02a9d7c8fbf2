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
/// `book` is a computed `Book?` with a getter and a setter; `@EntityWrapper` generates all of this. If the setter accepts
/// `nil`, the entity is optional; if it ignores `nil`, the entity is required.
public protocol EntityWrapper: Sendable {
  /// Returns the places where entities stand in this value, as key paths from the root of `parent`.
  func wrappedEntitiesKeyPaths<Root>(
    relativeTo parent: WritableKeyPath<Root, Self>
  ) -> [PartialIdentifiableKeyPath<Root>]

  /// The places where entities stand, if all values have the same; `nil` (the default) if they may differ. `@EntityWrapper`
  /// generates it.
  static var fixedRelations: [PartialIdentifiableKeyPath<Self>]? { get }
}

extension EntityWrapper {
  public static var fixedRelations: [PartialIdentifiableKeyPath<Self>]? { nil }
}
