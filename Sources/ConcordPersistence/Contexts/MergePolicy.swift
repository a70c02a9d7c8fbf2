/// The rule for saving an entity that another context has changed meanwhile.
///
/// Properties that only one of them changed are merged under each policy. The policy decides about what both changed, about an
/// entity that one of them removed, and about one that is inserted while it is stored already.
///
/// A number that is counted up is a property like all others. If two contexts read 5 and both write 6, only `error` says so: under the
/// other policies one of the two increments is lost. Count with `error`, and try again at a conflict:
///
/// ```swift
/// context.mergePolicy = .error
/// while true {
///   try context.update(Counter.self, id: 1) { $0.count += 1 }
///   do {
///     try context.save()
///     break
///   } catch StoreError.conflict {
///     context.rollback()
///   }
/// }
/// ```
///
/// The policy of a child context also applies where its parent is saved.
public enum MergePolicy: Sendable, Hashable {
  /// Freshness: the fresher of the two wins. Of two increments of one number the fresher one is left. A removed entity stays
  /// removed; a removal wins over changes with an older stamp.
  case byStamp
  /// An error: the save throws ``/ConcordModel/StoreError/conflict(entity:id:properties:)`` and changes nothing.
  ///
  /// Two writes of one property are a conflict, also if both write the same value, so that no increment is lost. So are
  /// two insertions of one entity, except of an unchanged entity inside of an inserted one. A save to a ``RootContext``
  /// that conflicts when it is written is given up, and reported as a ``BackgroundSaveError``.
  case error
  /// The stored value, which stays. Of two increments of one number the one that is saved first is left.
  case storeTrump
  /// The context's value, which replaces the stored one. Of two increments of one number the one that is saved last is left.
  case objectTrump
}
