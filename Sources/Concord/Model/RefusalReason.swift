/// Why a write, or a part of it, was refused.
public enum RefusalReason: Error, Sendable, Hashable {
  /// A relation leads from an entity to that entity itself, as `\.self` does. It is left out.
  case relationToItself
  /// A closure edited a relation that was not shown, because it leads back into a cycle. The rest of the edit is taken.
  case hiddenRelation
  /// An `update` was about an entity that is not stored. Nothing was changed.
  case notStored
  /// The closure of an `update` changed the id. Nothing was changed.
  case changedID
  /// The id is `nil`, so the value is no entity yet: where it stands it is a part of what contains it, and stored by itself
  /// it is a value that only its observers have.
  case missingID
}
