/// A history of steps that can be undone and redone: of a store, of a container's view, or of what was forwarded.
///
/// What shows several histories in one menu asks each for its last step: that with the greatest ``UndoStep/id`` is the latest.
public protocol StepHistory: Sendable {
  /// The steps that can be undone, the oldest first.
  var undoSteps: [UndoStep] { get }
  /// The steps that can be redone; the last is the next.
  var redoSteps: [UndoStep] { get }
  /// The present status, and each new one.
  var statuses: AsyncStream<UndoStatus> { get }

  /// Undoes the last step.
  ///
  /// - Returns: the step, and what was left as it is.
  /// - Throws: ``UndoError``, or an error of where the step is kept.
  @discardableResult
  func undo() async throws -> UndoResult

  /// Redoes the step that was undone last.
  ///
  /// - Returns: the step, and what was left as it is.
  /// - Throws: ``UndoError``, or an error of where the step is kept.
  @discardableResult
  func redo() async throws -> UndoResult
}

extension UndoHistory: StepHistory {}
