/// The steps of a store's history, and who is told of them. A store has none until somebody asks for its history.
///
/// It has a lock of its own, so that menus do not wait for transactions. Whoever changes the steps has a turn to write to the store.
package final class UndoSteps: Sendable {
  private let state = Locked(State())

  private struct State {
    var undo: [UndoStep] = []
    var redo: [UndoStep] = []
    var levels = 100
    var lastID = 0
    var followers: [Int: @Sendable (UndoStatus) -> Void] = [:]
    var lastFollower = 0
  }

  /// The number of changes that are kept in all; the last step is kept however many it has.
  private static var mostChanges: Int { 100_000 }

  package init() {}

  // MARK: Reading

  package var status: UndoStatus {
    state.withLock { UndoStatus(undoActionName: $0.undo.last?.actionName, redoActionName: $0.redo.last?.actionName) }
  }

  package func steps(isRedo: Bool) -> [UndoStep] { state.withLock { isRedo ? $0.redo : $0.undo } }

  package var levels: Int {
    get { state.withLock { $0.levels } }
    set {
      state.withLock { state in
        state.levels = max(0, newValue)
        Self.trim(&state)
      }
    }
  }

  // MARK: Changing

  /// Returns the number of the next step.
  package func nextID() -> Int {
    state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
  }

  /// Adds a step that was just recorded, or lets it join the last one, and discards what was undone before.
  ///
  /// - Parameter join: a closure that returns the parts of a step that further changes were made to; it is called with the last step
  ///   and the new one if they are of one group.
  package func append(
    _ step: UndoStep, join: ([[any UndoableChange]], [[any UndoableChange]]) -> [[any UndoableChange]]
  ) {
    let last = state.withLock { state in
      state.redo = []
      return state.undo.last
    }
    // Without the lock, since values are compared.
    let joined = last.flatMap { last -> UndoStep? in
      guard let group = step.group, last.group == group, last.actionName == step.actionName else { return nil }
      var joined = last
      joined.parts = join(last.parts, step.parts)
      return joined
    }
    state.withLock { state in
      if let joined, state.undo.last?.id == joined.id { state.undo.removeLast() }
      let step = joined ?? step
      if step.size > 0 { state.undo.append(step) }
      Self.trim(&state)
    }
  }

  /// Removes and returns the step to be undone or redone next, which ends its group.
  package func take(isRedo: Bool) -> UndoStep? {
    state.withLock { state in
      var step = isRedo ? state.redo.popLast() : state.undo.popLast()
      step?.group = nil
      return step
    }
  }

  /// Adds what takes a step back that was undone or redone.
  package func putBack(_ step: UndoStep, isRedo: Bool) {
    state.withLock { state in
      if isRedo { state.undo.append(step) } else { state.redo.append(step) }
      Self.trim(&state)
    }
  }

  package func endGroup() {
    state.withLock { state in
      guard let last = state.undo.indices.last else { return }
      state.undo[last].group = nil
    }
  }

  package func removeAll() {
    // Released without the lock.
    let gone = state.withLock { state in
      defer { (state.undo, state.redo) = ([], []) }
      return (state.undo, state.redo)
    }
    withExtendedLifetime(gone) {}
  }

  /// Removes the oldest steps above the bounds.
  private static func trim(_ state: inout State) {
    func trim(_ steps: inout [UndoStep]) {
      if steps.count > state.levels { steps.removeFirst(steps.count - state.levels) }
      var size = steps.reduce(0) { $0 + $1.size }
      while size > mostChanges, steps.count > 1 { size -= steps.removeFirst().size }
    }
    trim(&state.undo)
    trim(&state.redo)
  }

  // MARK: Followers

  /// The present status, and each new one. A reader that is slow misses those between.
  package var statuses: AsyncStream<UndoStatus> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let number = follow { continuation.yield($0) }
      continuation.onTermination = { [weak self] _ in self?.unfollow(number) }
      continuation.yield(status)
    }
  }

  package func follow(_ body: @escaping @Sendable (UndoStatus) -> Void) -> Int {
    state.withLock { state in
      state.lastFollower += 1
      state.followers[state.lastFollower] = body
      return state.lastFollower
    }
  }

  package func unfollow(_ number: Int) {
    let gone = state.withLock { $0.followers.removeValue(forKey: number) }
    withExtendedLifetime(gone) {}
  }

  /// Tells who follows of the present state. Called without a lock.
  package func tell() {
    let (followers, status) = (state.withLock { Array($0.followers.values) }, status)
    for follower in followers { follower(status) }
  }
}
