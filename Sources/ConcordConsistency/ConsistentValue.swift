/// A value that a merge looks into: a ``ConsistentObject``, a ``ConsistentWrapper``, or an optional, an array, a set
/// or a dictionary of such values.
///
/// The requirements have defaults for ``ConsistentObject``, ``ConsistentWrapper`` and ``StaticallyConsistent``; only a
/// container of your own (a tree, a non-empty list) or generated code writes them.
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
  /// Names the types of all objects that a value of this type can hold, at any depth, its own among them.
  ///
  /// What is declared here allows a merge to skip whole subtrees. A type that is not declared is not looked for.
  static func declareConsistentTypes(in types: inout ConsistentTypes)

  /// Shows the nearest objects in this value to `visitor`: an object shows itself, a container what it holds.
  func visitConsistentObjects(_ visitor: ConsistentVisitor)

  /// The value as it is after `merge`, or `nil` if the merge changes nothing in it.
  func merged(by merge: ConsistentMerge) -> Self?
}
