import Concord
import ConcordModel

/// The removals from the stores and their stamps, collected as long as the object is retained: a removed row has no stamp to
/// compare with.
package final class CollectedRemovals: Sendable {
  private let stamps = Locked<[EntityKey: Stamp]>([:])

  package init() {}

  /// Notes a removal before the commit, so that readers of the commit find it.
  func note(_ key: EntityKey, _ stamp: Stamp) { stamps.withLock { $0[key] = stamp } }

  /// The stamp of an entity's removal from the stores.
  func stamp(of key: EntityKey) -> Stamp? { stamps.withLock { $0[key] } }
}

/// The collections of removals that are retained.
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
