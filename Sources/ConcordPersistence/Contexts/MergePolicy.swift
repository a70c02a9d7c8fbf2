/// What happens at a save to an entity that another context has changed meanwhile.
///
/// Properties that only one of them changed are merged under each policy. The policy decides about what both changed, about an
/// entity that one of them removed, and about one that is inserted while it is stored already.
public enum MergePolicy: Sendable, Hashable {
  /// The fresher of the two wins. What is removed stays removed; a removal wins over changes with an older stamp.
  case byStamp
  /// The save throws ``/ConcordModel/StoreError/conflict(entity:id:properties:)`` and changes nothing.
  case error
  /// What is in the store stays.
  case storeTrump
  /// What the context has replaces what is in the store.
  case objectTrump
}
