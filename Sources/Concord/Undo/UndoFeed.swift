/// A menu of steps that moves what it performs between what can be undone and what can be redone, as Foundation's `UndoManager` does.
@MainActor package protocol UndoMenu: AnyObject, Sendable {
  /// Whether a step can be added, and undone at once: nothing is being undone, redone or grouped.
  var isIdle: Bool { get }
  /// Adds a step: to those that can be undone, and discards those that can be redone; within ``UndoMenuStep/perform()`` to those that
  /// can be done the other way.
  func add(_ step: UndoMenuStep)
  /// Removes a step, wherever it is.
  func remove(_ step: UndoMenuStep)
  /// Takes the last step out of those that can be undone, and lets it perform.
  func undo()
}

/// A step as it stands in a menu.
@MainActor package final class UndoMenuStep {
  package let actionName: String
  fileprivate let id: Int
  fileprivate let history: any StepHistory
  /// Whether the menu has it among those that can be redone.
  fileprivate var isUndone = false
  /// The number of steps that had been undone when this one was undone last.
  fileprivate var turn = 0
  private weak var feed: UndoFeed?

  fileprivate init(_ step: UndoStep, of history: any StepHistory, _ feed: UndoFeed) {
    (id, actionName) = (step.id, step.actionName)
    (self.history, self.feed) = (history, feed)
  }

  /// Undoes or redoes the step, whichever is its turn. Called by the menu.
  package func perform() { feed?.perform(self) }

  /// Whether the history has the step where the menu has it.
  fileprivate var isPresent: Bool { (isUndone ? history.redoSteps : history.undoSteps).contains { $0.id == id } }
  fileprivate func isNext(isRedo: Bool) -> Bool { (isRedo ? history.redoSteps : history.undoSteps).last?.id == id }
}

/// Keeps a menu up to date with the steps of histories, in the order in which they were recorded.
@MainActor package final class UndoFeed {
  private let menu: any UndoMenu
  private let histories: [any StepHistory]
  private let onResult: @MainActor (Result<UndoResult, any Error>) -> Void
  private var shown: [Int: UndoMenuStep] = [:]
  private var followers: [Task<Void, Never>] = []
  /// The work that the menu has started, one after another.
  private var work: Task<Void, Never>?
  private var performing = 0
  /// The steps that the menu has moved, and that were neither undone nor redone.
  private var failed: [UndoMenuStep] = []
  /// Whether the steps that the menu performs are only moved.
  private var isMoving = false
  private var turns = 0

  package init(
    _ menu: any UndoMenu, _ histories: [any StepHistory],
    onResult: @escaping @MainActor (Result<UndoResult, any Error>) -> Void
  ) {
    (self.menu, self.histories, self.onResult) = (menu, histories, onResult)
    update()
    followers = histories.map { history in
      let statuses = history.statuses
      return Task { [weak self] in
        for await _ in statuses { self?.update() }
      }
    }
  }

  deinit {
    for follower in followers { follower.cancel() }
    // Not within this call, which may come from any thread, and while the menu performs a step.
    Task { @MainActor [menu, shown] in
      for step in shown.values { menu.remove(step) }
    }
  }

  /// Takes all steps out of the menu, for good.
  package func stop() {
    for follower in followers { follower.cancel() }
    for step in shown.values { menu.remove(step) }
    shown = [:]
  }

  /// Takes what is no longer there out of the menu, and adds what is new.
  private func update() {
    // Until then the histories are behind the menu.
    guard performing == 0, followers.allSatisfy({ !$0.isCancelled }) else { return }
    putBack()
    for (id, step) in shown where !step.isPresent {
      menu.remove(step)
      shown[id] = nil
    }
    let new = histories.flatMap { history in history.undoSteps.map { ($0, history) } }
      .filter { shown[$0.0.id] == nil }.sorted { $0.0.id < $1.0.id }
    // The menu discards what can be redone.
    if !new.isEmpty { for (id, step) in shown where step.isUndone { shown[id] = nil } }
    for (step, history) in new {
      let step = (step.id, UndoMenuStep(step, of: history, self))
      shown[step.0] = step.1
      menu.add(step.1)
    }
  }

  /// Moves steps back that the histories still have where they were.
  private func putBack() {
    let moved = failed.filter { step in
      if step.isPresent { return false }
      step.isUndone.toggle()
      if step.isPresent { return true }
      step.isUndone.toggle()
      return false
    }
    failed = []
    if moved.isEmpty { return }
    for step in moved { menu.remove(step) }
    for step in moved.sorted(by: { $0.id < $1.id }) where !step.isUndone { menu.add(step) }
    // Whatever is added discards what can be redone, and that is added only while the menu undoes: so all of it is added once more, the next one
    // first, and moved.
    let undone = shown.values.filter { $0.isUndone && $0.isPresent }.sorted { $0.turn > $1.turn }
    for step in undone { menu.remove(step) }
    guard menu.isIdle else {
      for step in undone { shown[step.id] = nil }
      return
    }
    for step in undone { menu.add(step) }
    isMoving = true
    for _ in undone { menu.undo() }
    isMoving = false
  }

  fileprivate func perform(_ step: UndoMenuStep) {
    guard shown[step.id] === step else { return }
    // Now, since the menu takes it for what does the opposite only while it calls.
    menu.add(step)
    if isMoving { return }
    let isRedo = step.isUndone
    step.isUndone.toggle()
    if step.isUndone {
      turns += 1
      step.turn = turns
    }
    performing += 1
    work = Task { [work] in
      await work?.value
      let result = await perform(step, isRedo: isRedo)
      performing -= 1
      update()
      onResult(result)
    }
  }

  private func perform(_ step: UndoMenuStep, isRedo: Bool) async -> Result<UndoResult, any Error> {
    do {
      // Somebody else was faster, or the one before could not be undone.
      guard step.isNext(isRedo: isRedo) else { throw UndoError.nothingToDo }
      return .success(isRedo ? try await step.history.redo() : try await step.history.undo())
    } catch {
      failed.append(step)
      return .failure(error)
    }
  }
}
