import Concord
import Foundation

/// Tells those who follow a store of its commits, in order. A store has one, and calls it while no other commit can come between.
final class CommitFeed: Sendable {
  private let state = Locked(State())
  /// Calls the observers, one commit after the other.
  private let queue = DispatchQueue(label: "concord.commits")

  private struct State {
    var observers: [Int: @Sendable (StoreCommit) -> Void] = [:]
    var nextNumber = 0
  }

  func observe(_ body: @escaping @Sendable (StoreCommit) -> Void) -> StoreObservation {
    let number = state.withLock { state in
      state.nextNumber += 1
      state.observers[state.nextNumber] = body
      return state.nextNumber
    }
    return StoreObservation { [weak self] in self?.state.withLock { $0.observers[number] = nil } }
  }

  func tell(_ commit: StoreCommit) {
    guard !commit.keys.isEmpty, state.withLock({ !$0.observers.isEmpty }) else { return }
    queue.async { [self] in
      for number in state.withLock({ $0.observers.keys.sorted() }) {
        // One that ended meanwhile is not called.
        state.withLock { $0.observers[number] }?(commit)
      }
    }
  }
}

/// Follows a store as long as it is retained.
public final class StoreObservation: Sendable {
  private let end: @Sendable () -> Void

  public init(_ end: @escaping @Sendable () -> Void) { self.end = end }

  deinit { end() }
}
