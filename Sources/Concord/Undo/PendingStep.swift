/// A step that was recorded within a transaction, until that commits.
struct PendingStep {
  private let step: UndoStep
  /// The step before with the changes of this one; `nil` if they are not of one group.
  private let joined: UndoStep?
  /// Whether the group ends with this step.
  var endsGroup = false

  /// - Parameters:
  ///   - pending: the step that was recorded before in the same transaction.
  ///   - last: the last step of the history, which is the one before if there is no such.
  init(
    _ step: UndoStep, behind pending: PendingStep?, _ last: @autoclosure () -> UndoStep?,
    join: ([[any UndoableChange]], [[any UndoableChange]]) -> [[any UndoableChange]]
  ) {
    self.step = step
    let before = pending.map { $0.endsGroup ? nil : $0.joined ?? $0.step } ?? last()
    joined = step.joined(to: before, join)
  }

  func add(to steps: UndoSteps) {
    steps.append(step, joined: joined)
    if endsGroup { steps.endGroup() }
  }
}
