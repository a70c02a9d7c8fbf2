import Concord
import ConcordModel
import Foundation
import Synchronization

/// The times at which a view has found entities, of the types that rules are about.
final class RetentionUses: Sendable {
  private let state = Locked<[EntityDescription: [StoredValue: TimeInterval]]>([:])

  /// Whether the uses of a type are noted.
  let isFollowing = Atomic<Bool>(false)

  /// Begins to note uses of a type.
  func follow(_ entity: EntityDescription) {
    state.withLock { if $0[entity] == nil { $0[entity] = [:] } }
    isFollowing.store(true, ordering: .relaxed)
  }

  func note(_ key: EntityKey) {
    state.withLock { state in
      guard state[key.entity] != nil else { return }
      state[key.entity]?[key.id] = Date().timeIntervalSinceReferenceDate
    }
  }

  func dates(of entity: EntityDescription) -> [StoredValue: TimeInterval] { state.withLock { $0[entity] ?? [:] } }

  func forget(_ keys: Set<EntityKey>) {
    state.withLock { state in for key in keys { state[key.entity]?[key.id] = nil } }
  }

  func forget(allBut keys: Set<StoredValue>, of entity: EntityDescription) {
    state.withLock { state in state[entity] = state[entity]?.filter { keys.contains($0.key) } }
  }
}
