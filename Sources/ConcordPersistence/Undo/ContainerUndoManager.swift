public import Concord
import ConcordModel

/// The history of the steps that were recorded in a container's view, which can be undone and redone.
///
/// ```swift
/// let undoManager = container.undoManager
/// try undoManager.record("Rename") { view in try view.update(Book.self, id: "ACK") { $0.title = "Cannery Row" } }
/// try undoManager.undo()
/// ```
///
/// Only what is recorded can be undone. What other saves change in the meantime stays as it is, property by property: undoing and redoing
/// are ordinary saves of the view on top of that, under its strategy and its merge policy. All methods may be called from any thread.
public struct ContainerUndoManager: Sendable {
  private let view: ViewContext
  private let steps: UndoSteps

  init(_ view: ViewContext) { (self.view, steps) = (view, view.undoSteps) }

  // MARK: Recording

  /// Runs a closure with the view, saves it, and records what the closure changed as a step.
  ///
  /// Unsaved changes that the view had before are saved, too; they are no part of the step. If the closure or the save throws, nothing
  /// is left of what the closure changed, except what it has saved itself. Within another `record` the changes belong to that one's step.
  ///
  /// - Parameters:
  ///   - actionName: the name of what the user does, for menus, as in *Undo Rename*.
  ///   - group: what successive calls have in common that are one step, as the typing in one text; `nil` for a step of its own. A
  ///     group ends with a step of another group or name, with ``endGroup()``, and when the step is undone.
  ///   - body: a closure that makes the changes.
  /// - Returns: what the closure returns.
  /// - Throws: what the closure throws, and ``/ConcordModel/StoreError``.
  /// - Complexity: what the closure does, a save, and a reading of the rows that it changed.
  @discardableResult
  public func record<R>(
    _ actionName: String, joining group: (any Hashable & Sendable)? = nil, _ body: (ViewContext) throws -> R
  ) throws -> R {
    var parts: [[any UndoableChange]] = []
    defer { if !parts.isEmpty { steps.tell() } }
    return try view.performAndWait { view in
      guard view.core.recorder == nil else { return try body(view) }
      steps.willRecord()
      let recorder = RowRecorder(view.core)
      view.core.recorder = recorder
      defer {
        view.core.recorder = nil
        parts = recorder.parts
        if !parts.isEmpty {
          steps.append(
            UndoStep(
              id: steps.nextID(), actionName: actionName, context: nil, group: group.map { UndoGroup($0) },
              parts: parts)
          ) { earlier, later in
            guard let last = earlier.last, let first = later.first, let joined = RowEdit.joined(last, first) else {
              return earlier + later
            }
            return earlier.dropLast() + [joined] + later.dropFirst()
          }
        }
      }
      do {
        let result = try body(view)
        try view.save()
        return result
      } catch {
        view.core.goBack(to: recorder.start)
        throw error
      }
    }
  }

  /// Ends the group of the last step: what is recorded from now on is another step.
  public func endGroup() { steps.endGroup() }

  // MARK: Undoing

  /// Undoes the last step, and saves the view: sets each property that the step changed as it was before, unless another context
  /// has changed the property since.
  ///
  /// - Returns: the step, and what was left as it is.
  /// - Throws: ``/Concord/UndoError``, or ``/ConcordModel/StoreError`` if the view cannot be saved. Then nothing is changed, and after
  ///   a `StoreError` the step is still the last one.
  /// - Complexity: a reading and a save of what the step changed.
  @discardableResult
  public func undo() throws -> UndoResult { try revert(isRedo: false) }

  /// Redoes the step that was undone last, and saves the view: makes what undoing it has changed as it was before, unless another
  /// context has changed the same since.
  ///
  /// - Returns: the step, and what was left as it is.
  /// - Throws: as ``undo()``.
  /// - Complexity: as ``undo()``.
  @discardableResult
  public func redo() throws -> UndoResult { try revert(isRedo: true) }

  private func revert(isRedo: Bool) throws -> UndoResult {
    defer { steps.tell() }
    return try view.performAndWait { view in
      if view.core.recorder != nil { throw UndoError.insideTransaction }
      return try steps.revert(isRedo: isRedo) { try Self.revert($0, in: view) }.get()
    }
  }

  private static func revert(
    _ step: UndoStep, in view: ViewContext
  ) throws -> (conflicts: [UndoConflict], inverse: UndoStep) {
    let core = view.core
    let before = core.pending
    let reversal = RowReversal(core)
    var changes: [RowEdit] = []
    do {
      for part in step.parts.reversed() { try reversal.revert(part) }
      changes = try core.rowEdits(since: before)
      if !changes.isEmpty { try view.save() }
    } catch {
      core.goBack(to: before)
      throw error
    }
    if changes.isEmpty { core.goBack(to: before) }
    // What was done counts, and not what was to be done: a conflict stays as it is when the step is done again.
    var inverse = step
    inverse.parts = changes.isEmpty ? [] : [changes]
    return (reversal.conflicts, inverse)
  }

  // MARK: The steps

  /// The steps that can be undone, the oldest first.
  public var undoSteps: [UndoStep] { steps.steps(isRedo: false) }

  /// The steps that can be redone; the last is the next.
  public var redoSteps: [UndoStep] { steps.steps(isRedo: true) }

  /// The state that menus show: whether something can be undone or redone, and how it is called.
  public var status: UndoStatus { steps.status }

  /// The present status, and each new one. A reader that is slow misses those between.
  public var statuses: AsyncStream<UndoStatus> { steps.statuses }

  /// The number of steps that are kept, at first 100. The oldest are discarded first, also if all steps together have more than
  /// 100,000 changes; the last step is kept however many it has.
  public var levelsOfUndo: Int {
    get { steps.levels }
    nonmutating set {
      steps.levels = newValue
      steps.tell()
    }
  }

  /// Discards all steps.
  public func removeAllSteps() {
    steps.removeAll()
    steps.tell()
  }
}

extension ContainerUndoManager: StepHistory {}
