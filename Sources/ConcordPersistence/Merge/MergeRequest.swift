package import Concord
package import ConcordModel
package import Foundation

/// What the stored entities of a type are to be equal to.
package struct MergeRequest<T: PersistentEntity> {
  package let objects: [T]
  /// Which columns tell entities apart.
  package let uniqueness: [StoredColumn]
  /// The positions in ``/ConcordModel/EntityDescription/properties`` that are neither compared nor overwritten.
  package let ignored: Set<Int>
  /// Which stored entities are meant; all if `nil`.
  package let subset: Predicate<T>?
  /// Which stored entities may be changed or removed; all if `nil`.
  package let condition: Predicate<T>?
  /// Whether what is stored and not given stays.
  package let keepsMissing: Bool
  /// How fresh the objects are.
  package let stamp: Stamp?
  /// What was removed since is not inserted; `nil` to insert it.
  package let removals: CollectedRemovals?

  package init(
    objects: [T], uniqueness: [StoredColumn], ignored: Set<Int>, subset: Predicate<T>?, condition: Predicate<T>?,
    keepsMissing: Bool, stamp: Stamp?, removals: CollectedRemovals? = nil
  ) {
    self.objects = objects
    self.uniqueness = uniqueness
    self.ignored = ignored
    self.subset = subset
    self.condition = condition
    self.keepsMissing = keepsMissing
    self.stamp = stamp
    self.removals = removals
  }
}

/// What a save would do.
package struct PendingCounts: Sendable, Equatable {
  package var inserts = 0
  package var updates = 0
  package var deletes = 0
}
