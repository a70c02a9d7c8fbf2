public import Concord

/// The history of the steps that were forwarded, which can be undone and redone; see <doc:UndoingForwardedActions>.
///
/// ```swift
/// try await connect.forward(AddToCart(book: "ACK"), as: "Add to Cart")
/// try await connect.outbox.undoManager.undo()
/// ```
///
/// It has what this process has forwarded with ``Connect/forward(_:as:joining:)``, and is empty after ``Outbox/clear()``. All methods may
/// be called from any thread.
public struct OutboxUndoManager: Sendable {
  private let outbox: Outbox
  private var steps: UndoSteps { outbox.undoSteps }

  init(_ outbox: Outbox) { self.outbox = outbox }

  /// Undoes the last step: withdraws its actions if no attempt to send them has begun, and otherwise forwards their inverses.
  ///
  /// It returns when that is shown, and durable: one commit.
  ///
  /// - Returns: the step, and the actions that were not taken back.
  /// - Throws: ``/Concord/UndoError``, ``Errors``, or ``/ConcordModel/StoreError``. Then nothing is changed, and unless it is an
  ///   `UndoError` the step is still the last one.
  /// - Complexity: that of forwarding an action, for each action of the step, and O(*n*), where *n* is the number of pending actions.
  @discardableResult
  public func undo() async throws -> UndoResult { try await outbox.revertStep(isRedo: false) }

  /// Redoes the step that was undone last: withdraws the inverses of its actions, or forwards what takes these back. An action whose inverse
  /// is no ``ReversibleAction`` is forwarded again.
  ///
  /// - Returns: the step, and the actions that were not forwarded again.
  /// - Throws: as ``undo()``.
  /// - Complexity: as ``undo()``.
  @discardableResult
  public func redo() async throws -> UndoResult { try await outbox.revertStep(isRedo: true) }

  /// Ends the group of the last step: what is forwarded from now on is another step.
  public func endGroup() { steps.endGroup() }

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
  /// 100,000 actions; the last step is kept however many it has.
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

extension OutboxUndoManager: StepHistory {}

extension Outbox {
  /// The history of the steps that were forwarded with ``Connect/forward(_:as:joining:)``.
  public var undoManager: OutboxUndoManager { OutboxUndoManager(self) }
}
