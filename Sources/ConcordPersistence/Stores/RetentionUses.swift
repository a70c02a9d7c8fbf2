import Concord
import ConcordModel
import Dispatch
import Foundation
import Synchronization

/// The times at which a view has found or shown entities, of the types that rules are about.
///
/// They are written to the stores of these as notes, some time after: see `PersistentStoreCoordinator.saveUses()`.
final class RetentionUses: Sendable {
  private struct Uses: Sendable {
    var dates: [StoredValue: TimeInterval] = [:]
    var unsaved: Set<StoredValue> = []
  }

  private struct State: Sendable {
    var uses: [EntityDescription: Uses] = [:]
    var isEnqueued = false
    var save: @Sendable () -> Void = {}
  }

  private let state = Locked(State())
  /// The seconds after which a use is written.
  private static let pause = 60.0

  /// Whether the uses of any type are noted.
  let isFollowingAny = Atomic<Bool>(false)

  /// - Parameter save: a closure that writes what is unsaved.
  func begin(_ save: @escaping @Sendable () -> Void) { state.withLock { $0.save = save } }

  /// Begins to note uses of a type.
  func follow(_ entity: EntityDescription) {
    state.withLock { if $0.uses[entity] == nil { $0.uses[entity] = Uses() } }
    isFollowingAny.store(true, ordering: .relaxed)
  }

  /// Whether the uses of a type are noted.
  func isFollowing(_ entity: EntityDescription) -> Bool { state.withLock { $0.uses[entity] != nil } }

  /// Notes that entities of a type are used now.
  func note(_ keys: some Collection<StoredValue>, of entity: EntityDescription) {
    if keys.isEmpty { return }
    let date = Date().timeIntervalSinceReferenceDate
    let mustEnqueue = state.withLock { state in
      guard var uses = state.uses.removeValue(forKey: entity) else { return false }
      for key in keys {
        uses.dates[key] = date
        uses.unsaved.insert(key)
      }
      state.uses[entity] = uses
      defer { state.isEnqueued = true }
      return !state.isEnqueued
    }
    guard mustEnqueue else { return }
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + Self.pause) { [weak self] in self?.save() }
  }

  private func save() {
    let save = state.withLock { state in
      state.isEnqueued = false
      return state.save
    }
    save()
  }

  func dates(of entity: EntityDescription) -> [StoredValue: TimeInterval] {
    state.withLock { $0.uses[entity]?.dates ?? [:] }
  }

  /// Returns the uses that are to be written.
  func takeUnsaved() -> [EntityDescription: [StoredValue: TimeInterval]] {
    state.withLock { state in
      var taken: [EntityDescription: [StoredValue: TimeInterval]] = [:]
      for (entity, uses) in state.uses where !uses.unsaved.isEmpty {
        taken[entity] = uses.dates.filter { uses.unsaved.contains($0.key) }
        state.uses[entity]?.unsaved = []
      }
      return taken
    }
  }

  /// Notes that uses could not be written. They are with the next ones.
  func didNotSave(_ keys: some Sequence<StoredValue>, of entity: EntityDescription) {
    state.withLock { $0.uses[entity]?.unsaved.formUnion(keys) }
  }

  /// Forgets all uses of some types, whose store is detached: another one has entities of its own.
  func forgetAll(of entities: Set<EntityDescription>) {
    state.withLock { state in
      for entity in entities where state.uses[entity] != nil { state.uses[entity] = Uses() }
    }
  }

  func forget(_ keys: some Sequence<StoredValue>, of entity: EntityDescription) {
    state.withLock { state in
      for key in keys {
        state.uses[entity]?.dates[key] = nil
        state.uses[entity]?.unsaved.remove(key)
      }
    }
  }
}
