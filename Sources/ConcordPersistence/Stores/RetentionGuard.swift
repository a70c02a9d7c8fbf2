import Concord
package import ConcordModel

/// Somebody who needs stored entities: these are not purged.
package protocol RetentionGuard: AnyObject, Sendable {
  /// The entities that are changed, and not stored yet, with those that they contain by then. It may wait for others who use the guard.
  func pendingKeys() -> Set<EntityKey>
  /// Whether an entity is observed. Called within a transaction of a store, so that it waits for nobody.
  func isObserved(_ key: EntityKey) -> Bool
  /// The entities that forwarded actions name which are not sent, as far as their types are known; `nil` if the guard knows of none. Called
  /// within the transaction of a purge, so that nobody can forward one meanwhile.
  ///
  /// - Parameter outboxes: the session of each store.
  func forwardedKeys(_ outboxes: [StoreAttachment: any RowWriting]) throws -> Set<EntityKey>?
  /// Called when the store that has kept entities of some types was detached.
  func didDetach(_ types: Set<EntityDescription>)
}

extension RetentionGuard {
  package func pendingKeys() -> Set<EntityKey> { [] }
  package func isObserved(_ key: EntityKey) -> Bool { false }
  package func forwardedKeys(_ outboxes: [StoreAttachment: any RowWriting]) throws -> Set<EntityKey>? { nil }
  package func didDetach(_ types: Set<EntityDescription>) {}
}

/// The guards of a coordinator's stores, none of which is retained.
final class RetentionGuards: Sendable {
  private struct Reference: Sendable { weak var value: (any RetentionGuard)? }
  private let references = Locked<[Reference]>([])

  func add(_ keeper: any RetentionGuard) {
    references.withLock { references in
      references.removeAll { $0.value == nil }
      references.append(Reference(value: keeper))
    }
  }

  var all: [any RetentionGuard] { references.withLock { $0.compactMap(\.value) } }
}

extension PersistentStoreCoordinator {
  package func addGuard(_ keeper: any RetentionGuard) { guards.add(keeper) }
}
