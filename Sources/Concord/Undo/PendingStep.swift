/// A step that was recorded within a transaction, until that commits.
struct PendingStep {
  private let step: UndoStep
  /// The step before with the changes of this one, without its first ``kept`` lists; `nil` if they are not of one group.
  ///
  /// Further changes are joined to the last list alone, so that each pending step holds that, and not all lists of its group.
  let joined: UndoStep?
  let kept: Int
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
    var before = pending.map { $0.endsGroup ? nil : $0.joined ?? $0.step } ?? last()
    let lists = before?.parts ?? []
    before?.parts = Array(lists.suffix(1))
    joined = step.joined(to: before, join)
    kept = joined == nil ? 0 : (pending?.kept ?? 0) + max(0, lists.count - 1)
  }

  func add(to steps: UndoSteps) {
    steps.append(step, joined: joined, keeping: kept)
    if endsGroup { steps.endGroup() }
  }
}
