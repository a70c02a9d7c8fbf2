/// A value that a merge visits: a ``ConsistentObject``, a ``ConsistentWrapper``, or an optional, an array, a set or a
/// dictionary of such values.
///
/// The requirements have defaults for ``ConsistentObject``, ``ConsistentWrapper`` and ``StaticallyConsistent``; only a
/// container of your own (a tree, a non-empty list) or generated code implements them.
///
/// An enum of objects, for example, forwards to the payload it has:
/// ```swift
/// enum MediaType: ConsistentValue {
///   case book(Book), game(Game), none
///
///   static func declareConsistentTypes(in types: inout ConsistentTypes) {
///     types.include(Book.self)
///     types.include(Game.self)
///   }
///
///   func visitConsistentObjects(_ visitor: ConsistentVisitor) {
///     switch self {
///     case .book(let book): visitor.visit(book)
///     case .game(let game): visitor.visit(game)
///     case .none: break
///     }
///   }
///
///   func merged(by merge: ConsistentMerge) -> Self? {
///     switch self {
///     case .book(let book): merge.updated(book).map { .book($0) }
///     case .game(let game): merge.updated(game).map { .game($0) }
///     case .none: nil
///     }
///   }
/// }
/// ```
public protocol ConsistentValue {
  /// Declares the types of all objects that a value of this type can contain, at any depth, including its own.
  ///
  /// With these declarations a merge can skip whole subtrees. Objects of a type that is not declared are not merged.
  static func declareConsistentTypes(in types: inout ConsistentTypes)

  /// Passes the outermost objects in this value to a visitor: an object passes itself, a container its contents.
  func visitConsistentObjects(_ visitor: ConsistentVisitor)

  /// Returns the value after a merge; `nil` if the merge changes nothing in it.
  func merged(by merge: ConsistentMerge) -> Self?
}
