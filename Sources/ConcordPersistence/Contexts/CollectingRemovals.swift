import Concord
import ConcordModel

/// A parent of contexts that knows what is removed from the stores.
protocol CollectingRemovals: ContextParent {
  func removalsFromNowOn() -> CollectedRemovals
}

extension ContextParent {
  /// Collects what is removed from the stores from now on. A parent of another kind knows of no removals.
  func collectRemovals() -> CollectedRemovals {
    (self as? any CollectingRemovals)?.removalsFromNowOn() ?? CollectedRemovals()
  }
}

extension PersistentStoreCoordinator: CollectingRemovals {
  func removalsFromNowOn() -> CollectedRemovals { removalCollectors.add() }
}

extension RootContext: CollectingRemovals {
  func removalsFromNowOn() -> CollectedRemovals { parent.removalsFromNowOn() }
}

extension CollectedRemovals {
  /// Whether an entity that is not stored was removed since a stamp, from the stores or by what is read above them.
  func isRemoved(_ key: EntityKey, since stamp: Stamp, _ reading: (any RowReading)? = nil) -> Bool {
    let removals = [(reading as? PendingReading)?.removal(of: key), self.stamp(of: key)]
    return removals.contains { $0.map { $0 >= stamp } ?? false }
  }
}
