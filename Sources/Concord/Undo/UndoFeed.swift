/// A menu of steps that moves what it performs between what can be undone and what can be redone, as Foundation's `UndoManager` does.
@MainActor package protocol UndoMenu: AnyObject {
  /// Adds a step: to those that can be undone, and discards those that can be redone; within ``UndoMenuStep/perform()`` to those that
  /// can be done the other way.
  func add(_ step: UndoMenuStep)
  /// Removes a step, wherever it is.
  func remove(_ step: UndoMenuStep)
}

/// A step as it stands in a menu.
@MainActor package final class UndoMenuStep {
  package let actionName: String
  fileprivate let id: Int
  fileprivate let history: any StepHistory
  fileprivate var isUndone = false
  private weak var feed: UndoFeed?

  fileprivate init(_ step: UndoStep, of history: any StepHistory, _ feed: UndoFeed) {
    (id, actionName) = (step.id, step.actionName)
    (self.history, self.feed) = (history, feed)
  }

  /// Undoes or redoes the step, whichever is its turn. Called by the menu.
  package func perform() { feed?.perform(self) }

  /// Whether the step is still where the menu has it.
  fileprivate var isPresent: Bool { (isUndone ? history.redoSteps : history.undoSteps).contains { $0.id == id } }
  fileprivate var isNext: Bool { (isUndone ? history.redoSteps : history.undoSteps).last?.id == id }
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

  deinit { for follower in followers { follower.cancel() } }

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
    for (id, step) in shown where !step.isPresent {
      menu.remove(step)
      shown[id] = nil
    }
    let new = histories.flatMap { history in history.undoSteps.map { ($0, history) } }
      .filter { shown[$0.0.id] == nil }.sorted { $0.0.id < $1.0.id }
    for (step, history) in new {
      let step = (step.id, UndoMenuStep(step, of: history, self))
      shown[step.0] = step.1
      menu.add(step.1)
    }
  }

  fileprivate func perform(_ step: UndoMenuStep) {
    guard shown[step.id] === step else { return }
    // Now, since the menu takes it for what does the opposite only while it calls.
    menu.add(step)
    performing += 1
    work = Task { [work] in
      await work?.value
      let result = await perform(step)
      performing -= 1
      update()
      onResult(result)
    }
  }

  private func perform(_ step: UndoMenuStep) async -> Result<UndoResult, any Error> {
    let (isRedo, isNext) = (step.isUndone, step.isNext)
    step.isUndone.toggle()
    // Somebody else was faster.
    guard isNext else { return .failure(UndoError.nothingToDo) }
    do {
      return .success(isRedo ? try await step.history.redo() : try await step.history.undo())
    } catch {
      return .failure(error)
    }
  }
}
