/// The reason why a write, or a part of it, was refused.
public enum RefusalReason: Error, Sendable, Hashable {
  /// A relation of an entity to itself, as `\.self` is. The relation is ignored.
  case relationToItself
  /// An edit of a relation that the closure was not shown, because it leads back into a cycle. The rest of the edit is taken.
  case hiddenRelation
  /// An `update` of an entity that is not stored. Nothing was changed.
  case notStored
  /// An `update` whose closure changed the id. Nothing was changed.
  case changedID
  /// A value whose id is `nil`, and which is no entity yet: inside a value it is a part of that value, and stored on its own
  /// it is known to its observers only.
  case missingID
}
