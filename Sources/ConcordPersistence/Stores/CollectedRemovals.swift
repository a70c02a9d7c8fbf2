import Concord
import ConcordModel

/// What is removed from the stores, and when, as long as this is retained: a row that is gone has no stamp to be compared with.
package final class CollectedRemovals: Sendable {
  private let stamps = Locked<[EntityKey: Stamp]>([:])

  package init() {}

  /// Notes it before the commit, so that whoever reads the commit finds it.
  func note(_ key: EntityKey, _ stamp: Stamp) { stamps.withLock { $0[key] = stamp } }

  /// The stamp of an entity's removal from the stores.
  func stamp(of key: EntityKey) -> Stamp? { stamps.withLock { $0[key] } }
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
