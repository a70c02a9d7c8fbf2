import Concord
import ConcordModel

/// What is removed from the stores, and when, as long as this is retained: a row that is gone has no stamp to be compared with.
package final class CollectedRemovals: Sendable {
  private let stamps = Locked<[EntityKey: Stamp]>([:])

  package init() {}

  /// Notes it before the commit, so that whoever reads the commit finds it.
  func note(_ key: EntityKey, _ stamp: Stamp) { stamps.withLock { $0[key] = stamp } }

  /// Whether an entity that is not stored was removed since a stamp, from the stores or by what is read above them.
  func isRemoved(_ key: EntityKey, since stamp: Stamp, _ reading: (any RowReading)? = nil) -> Bool {
    let removals = [(reading as? PendingReading)?.removal(of: key), stamps.withLock { $0[key] }]
    return removals.contains { $0.map { $0 >= stamp } ?? false }
  }
}

/// Those who collect what is removed.
final class RemovalCollectors: Sendable {
  private struct Reference { weak var removals: CollectedRemovals? }
  private let references = Locked<[Reference]>([])

  var current: [CollectedRemovals] { references.withLock { $0.compactMap(\.removals) } }

  func add() -> CollectedRemovals {
    let removals = CollectedRemovals()
    references.withLock { references in
      references.removeAll { $0.removals == nil }
      references.append(Reference(removals: removals))
    }
    return removals
  }
}

extension ContextParent {
  /// Collects what is removed from the stores from now on.
  func collectRemovals() -> CollectedRemovals {
    switch self {
    case let coordinator as PersistentStoreCoordinator: coordinator.removalCollectors.add()
    case let root as RootContext: root.parent.collectRemovals()
    case let view as ViewContext: view.core.parent.collectRemovals()
    default: CollectedRemovals()
    }
  }
}
