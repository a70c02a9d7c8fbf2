package import Concord
package import ConcordModel
import Foundation

/// A request to make the stored entities of a type equal to given objects.
package struct MergeRequest<T: PersistentEntity> {
  package let objects: [T]
  /// The columns that identify entities.
  package let uniqueness: [StoredColumn]
  /// The positions in ``/ConcordModel/EntityDescription/properties`` that are neither compared nor overwritten.
  package let ignored: Set<Int>
  /// The condition of the stored entities that the objects replace; all if `nil`.
  package let subset: Predicate<T>?
  /// The condition of the stored entities that may be changed or removed; all if `nil`.
  package let condition: Predicate<T>?
  /// Whether stored entities that are not given are kept.
  package let keepsMissing: Bool
  /// The stamp of the objects.
  package let stamp: Stamp?

  package init(
    objects: [T], uniqueness: [StoredColumn], ignored: Set<Int>, subset: Predicate<T>?, condition: Predicate<T>?,
    keepsMissing: Bool, stamp: Stamp?
  ) {
    self.objects = objects
    self.uniqueness = uniqueness
    self.ignored = ignored
    self.subset = subset
    self.condition = condition
    self.keepsMissing = keepsMissing
    self.stamp = stamp
  }
}

/// The numbers of changes that a save would make.
package struct PendingCounts: Sendable, Equatable {
  package var inserts = 0
  package var updates = 0
  package var deletes = 0
}
