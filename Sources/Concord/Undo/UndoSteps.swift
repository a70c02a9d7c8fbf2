import Synchronization

/// The steps of a store's history, and who is told of them. A store has none until somebody asks for its history.
///
/// It has a lock of its own, so that menus do not wait for transactions. Whoever adds, undoes or redoes a step has a turn to write to the store.
package final class UndoSteps: Sendable {
  private let state = Locked(State())

  private struct State {
    var undo = Stack()
    var redo = Stack()
    /// The steps that are being undone or redone.
    var reverting: [Int: UndoStep] = [:]
    var isUsed = false
    var levels = 100
    var followers: [Int: @Sendable (UndoStatus) -> Void] = [:]
    var lastFollower = 0
    /// The number of changes that followers are not told of.
    var untold = 0

    var status: UndoStatus {
      UndoStatus(undoActionName: undo.last?.actionName, redoActionName: redo.last?.actionName)
    }
  }

  /// Steps, and the number of their changes.
  private struct Stack {
    /// The steps, behind the places of those that went, so that not all steps are moved each time.
    private var places: [UndoStep?] = []
    private var start = 0
    private var size = 0

    private var count: Int { places.count - start }
    var last: UndoStep? { places.last ?? nil }
    var steps: [UndoStep] { places[start...].compactMap { $0 } }

    mutating func append(_ step: UndoStep) {
      places.append(step)
      size += step.size
    }

    mutating func popLast() -> UndoStep? {
      guard count > 0, let step = places.removeLast() else { return nil }
      size -= step.size
      return step
    }

    var lastGroup: (id: Int, group: UndoGroup?)? { places.last.flatMap { $0.map { ($0.id, $0.group) } } }

    /// Replaces the lists of the last step behind some that stay. The step may have many, so that it is changed in its place. It is removed if it has none
    /// left.
    ///
    /// - Returns: a step with what was replaced.
    mutating func replaceLists(from kept: Int, by joined: UndoStep) -> UndoStep {
      guard count > 0, var step = places.removeLast() else { return joined }
      var replaced = joined
      replaced.parts = Array(step.parts.dropFirst(kept))
      size += joined.size - replaced.size
      step.parts.replaceSubrange(min(kept, step.parts.count)..., with: joined.parts)
      if !step.parts.isEmpty { places.append(step) }
      return replaced
    }

    mutating func endGroup() {
      if count > 0 { places[places.count - 1]?.group = nil }
    }

    /// Removes the oldest steps above the bounds, and returns them.
    mutating func trim(to levels: Int) -> [UndoStep] {
      var gone: [UndoStep] = []
      while count > levels || size > UndoSteps.mostChanges && count > 1 {
        if let step = places[start] {
          size -= step.size
          gone.append(step)
        }
        places[start] = nil
        start += 1
      }
      if start > 32, start > count {
        places.removeFirst(start)
        start = 0
      }
      return gone
    }
  }

  /// The number of changes that are kept in all; the last step is kept however many it has.
  private static var mostChanges: Int { 100_000 }

  package init() {}

  // MARK: Reading

  package var status: UndoStatus { state.withLock { $0.status } }

  /// Whether something was recorded, or began to be.
  package var isUsed: Bool { state.withLock { $0.isUsed } }

  package func steps(isRedo: Bool) -> [UndoStep] { state.withLock { isRedo ? $0.redo.steps : $0.undo.steps } }

  package var levels: Int {
    get { state.withLock { $0.levels } }
    set {
      changing { state in
        state.levels = max(0, newValue)
        return []
      }
    }
  }

  // MARK: Changing

  private static let lastID = Atomic(0)

  /// Returns the number of the next step.
  package func nextID() -> Int { Self.lastID.add(1, ordering: .relaxed).newValue }

  /// Notes that something begins to be recorded.
  package func willRecord() { state.withLock { $0.isUsed = true } }

  /// Changes the steps, within the bounds. What goes is released without the lock, since it may run the code of values.
  private func changing(_ body: (inout State) -> [UndoStep]) {
    let gone = state.withLock { state in
      let gone = body(&state)
      return (gone, state.undo.trim(to: state.levels), state.redo.trim(to: state.levels))
    }
    withExtendedLifetime(gone) {}
  }

  /// Adds a step that was just recorded, or lets it join the last one, and discards what was undone before.
  ///
  /// - Parameter join: a closure that returns the parts of a step that further changes were made to; it is called with the last step
  ///   and the new one if they are of one group.
  package func append(
    _ step: UndoStep, join: ([[any UndoableChange]], [[any UndoableChange]]) -> [[any UndoableChange]]
  ) {
    // Without the lock, since values are compared.
    append(step, joined: step.joined(to: last, join), keeping: 0)
  }

  /// The step that would be undone next.
  var last: UndoStep? { state.withLock { $0.undo.last } }

  /// Adds a step, or puts what it made of the last one in the place of that.
  ///
  /// - Parameters:
  ///   - joined: the last step with the changes of the new one, without its first lists; `nil` if they are not of one group.
  ///   - kept: the number of these lists.
  func append(_ step: UndoStep, joined: UndoStep?, keeping kept: Int) {
    changing { state in
      var gone = state.redo.steps
      state.redo = Stack()
      // The group may have ended meanwhile, or the last step may be gone.
      if let joined, let (id, group) = state.undo.lastGroup, id == joined.id, group == step.group {
        gone.append(state.undo.replaceLists(from: kept, by: joined))
      } else if step.size > 0 {
        state.undo.append(step)
      }
      return gone
    }
  }

  /// Takes the step to be undone or redone next, which ends its group, and adds what takes it back.
  ///
  /// What is discarded meanwhile reaches this step, too: then nothing is added.
  ///
  /// - Parameter body: a closure that undoes or redoes the step, and returns what was left as it is, and what takes back what was done. If it
  ///   throws, the step is put back where it was.
  /// - Returns: the result, or why nothing was done.
  package func revert(
    isRedo: Bool, _ body: (UndoStep) throws -> (conflicts: [UndoConflict], inverse: UndoStep)
  ) rethrows -> Result<UndoResult, UndoError> {
    let taken: UndoStep? = state.withLock { state in
      guard var step = isRedo ? state.redo.popLast() : state.undo.popLast() else { return nil }
      step.group = nil
      state.reverting[step.id] = step
      return step
    }
    guard let step = taken else { return .failure(.nothingToDo) }
    do {
      let (conflicts, inverse) = try body(step)
      end(step, isRedo: !isRedo, inverse)
      if inverse.size == 0, !conflicts.isEmpty { return .failure(.overtaken(step, conflicts)) }
      return .success(UndoResult(step: step, conflicts: conflicts))
    } catch {
      end(step, isRedo: isRedo, step)
      throw error
    }
  }

  private func end(_ step: UndoStep, isRedo: Bool, _ next: UndoStep) {
    changing { state in
      guard state.reverting.removeValue(forKey: step.id) != nil, next.size > 0 else { return [] }
      if isRedo { state.redo.append(next) } else { state.undo.append(next) }
      return []
    }
  }

  package func endGroup() { state.withLock { $0.undo.endGroup() } }

  /// Discards the steps that a condition holds for.
  ///
  /// - Returns: whether there were any.
  package func remove(where isGone: (UndoStep) -> Bool) -> Bool {
    var isAny = false
    changing { state in
      let (undo, redo) = (state.undo.steps, state.redo.steps)
      let gone = (undo + redo + state.reverting.values).filter(isGone)
      if gone.isEmpty { return [] }
      isAny = true
      (state.undo, state.redo) = (Stack(), Stack())
      state.reverting = state.reverting.filter { !isGone($0.value) }
      for step in undo where !isGone(step) { state.undo.append(step) }
      for step in redo where !isGone(step) { state.redo.append(step) }
      return gone
    }
    return isAny
  }

  package func removeAll() {
    changing { state in
      defer { (state.undo, state.redo, state.reverting) = (Stack(), Stack(), [:]) }
      return state.undo.steps + state.redo.steps + state.reverting.values
    }
  }

  // MARK: Followers

  /// The present status, and each new one. A reader that is slow misses those between.
  package var statuses: AsyncStream<UndoStatus> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let number = follow { continuation.yield($0) }
      continuation.onTermination = { [weak self] _ in self?.unfollow(number) }
    }
  }

  /// Calls a closure with the present status, under the lock, and without it with each new one.
  package func follow(_ body: @escaping @Sendable (UndoStatus) -> Void) -> Int {
    state.withLock { state in
      state.lastFollower += 1
      state.followers[state.lastFollower] = body
      // Before any later one.
      body(state.status)
      return state.lastFollower
    }
  }

  private func unfollow(_ number: Int) {
    let gone = state.withLock { $0.followers.removeValue(forKey: number) }
    withExtendedLifetime(gone) {}
  }

  package var isFollowed: Bool { state.withLock { !$0.followers.isEmpty } }

  /// Tells who follows of the present state. Called without a lock.
  ///
  /// Of several threads one tells for all, so that none is told of an earlier state after a later one.
  package func tell() {
    let isFirst = state.withLock { state in
      state.untold += 1
      return state.untold == 1
    }
    guard isFirst else { return }
    while true {
      let (count, status, followers) = state.withLock { ($0.untold, $0.status, Array($0.followers.values)) }
      for follower in followers { follower(status) }
      let isDone = state.withLock { state in
        state.untold -= count
        return state.untold == 0
      }
      if isDone { return }
    }
  }
}
