import Concord
package import ConcordModel

/// Somebody who needs stored entities: these are not purged.
package protocol RetentionGuard: AnyObject, Sendable {
  /// The entities that are changed, and not stored yet, with those that they contain by then. It may wait for other users of the guard.
  func pendingKeys() -> Set<EntityKey>
  /// The entities of ``pendingKeys()`` up to the last change that has ended. It waits for nobody who uses the guard.
  func presentKeys() -> Set<EntityKey>
  /// Whether an entity is observed. Called within a transaction of a store, so that it waits for nobody.
  func isObserved(_ key: EntityKey) -> Bool
  /// The entities that forwarded actions name which are not sent, as far as their types are known; `nil` if the guard knows of none. Called
  /// within the transaction of a purge, so that nobody can forward one meanwhile.
  ///
  /// - Parameter outboxes: the session of each store.
  func forwardedKeys(_ outboxes: [StoreAttachment: any RowReading]) throws -> Set<EntityKey>?
  /// Called when the store that has kept entities of some types was detached.
  func didDetach(_ types: Set<EntityDescription>)
}

extension RetentionGuard {
  package func pendingKeys() -> Set<EntityKey> { [] }
  package func presentKeys() -> Set<EntityKey> { pendingKeys() }
  package func isObserved(_ key: EntityKey) -> Bool { false }
  package func forwardedKeys(_ outboxes: [StoreAttachment: any RowReading]) throws -> Set<EntityKey>? { nil }
  package func didDetach(_ types: Set<EntityDescription>) {}
}

/// The guards of a coordinator's stores, none of which is retained.
final class RetentionGuards: Sendable {
  private struct Reference: Sendable { weak var value: (any RetentionGuard)? }
  private struct State: Sendable {
    var references: [Reference] = []
    /// The number of references at which those that are released are removed.
    var limit = 16
  }
  private let state = Locked(State())

  /// - Complexity: constant, amortised.
  func add(_ keeper: any RetentionGuard) {
    state.withLock { state in
      if state.references.count >= state.limit {
        state.references.removeAll { $0.value == nil }
        state.limit = max(16, 2 * state.references.count)
      }
      state.references.append(Reference(value: keeper))
    }
  }

  /// The number of references, also of guards that are released, for tests.
  var references: Int { state.withLock { $0.references.count } }

  /// The guards in the order in which they are to be asked: a context before those that it saves to, so that what is saved meanwhile is found
  /// in one of them.
  var all: [any RetentionGuard] { state.withLock { $0.references.reversed().compactMap(\.value) } }
}

extension PersistentStoreCoordinator {
  package func addGuard(_ keeper: any RetentionGuard) { guards.add(keeper) }
}
