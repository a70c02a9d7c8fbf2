/// The history of a store's steps, which can be undone and redone; see ``EntityStore/undo`` and <doc:Undo>.
///
/// ```swift
/// store.undo.record("Rename") { tx in tx.update(Book.self, id: "ACK") { $0.title = "The Ackerman File" } }
/// try store.undo.undo()
/// try store.undo.redo()
/// ```
///
/// Only what is recorded can be undone. What other writes change in the meantime stays as it is, property by property: undoing and redoing
/// are ordinary transactions on top of that. All methods may be called from any thread.
public struct UndoHistory: Sendable {
  let store: EntityStore
  let steps: UndoSteps

  // MARK: Recording

  /// Runs a closure as one transaction, and records what it changed as a step.
  ///
  /// ```swift
  /// store.undo.record("Typing", joining: note.id) { tx in tx.update(Note.self, id: note.id) { $0.text = text } }
  /// ```
  ///
  /// What was undone before can no longer be redone, unless the closure changes nothing. Within another transaction the step is
  /// recorded when that ends, and not if it throws. Within another `record` the changes belong to that one's step, and in a
  /// closure of an optimistic layer nothing is recorded: a layer that is committed within `record` is.
  ///
  /// - Parameters:
  ///   - actionName: the name of what the user does, for menus, as in *Undo Rename*.
  ///   - group: what successive calls have in common that are one step, as the typing in one text; `nil` for a step of its own. A
  ///     group ends with a step of another group or name, with ``endGroup()``, and when the step is undone.
  ///   - context: the name of the writer in ``EntityStore/changes``, also of undoing and redoing.
  ///   - file: the file of the call, which the compiler passes, and an inspector shows.
  ///   - line: the line of the call.
  ///   - body: a closure that makes the changes, through the store that it receives.
  /// - Returns: what the closure returns.
  /// - Throws: what the closure throws. Then nothing is changed or recorded.
  /// - Complexity: what `body` does, and what it changed.
  @discardableResult
  public func record<R>(
    _ actionName: String, joining group: (any Hashable & Sendable)? = nil, context: TransactionContext? = nil,
    file: StaticString = #fileID, line: UInt = #line, _ body: (EntityStore) throws -> R
  ) rethrows -> R {
    let isNested = isInTransaction
    return try store.transaction(context: context, origin: nil, at: CallSite(file, line)) { tx in
      let start = tx.shared.write(tx.token) { $0.beginStep() }
      guard let start else { return try body(tx) }
      do {
        let result = try body(tx)
        tx.shared.write(tx.token) { core in
          let step = UndoStep(
            id: steps.nextID(), actionName: actionName, context: context, group: group.map { UndoGroup($0) }, parts: [])
          core.endStep(step, since: start, in: steps, isNested: isNested)
        }
        return result
      } catch {
        tx.shared.write(tx.token) { $0.isRecordingStep = false }
        throw error
      }
    }
  }

  /// Ends the group of the last step: what is recorded from now on is another step.
  public func endGroup() {
    // A step that waits for the end of its transaction is later than all others.
    if !store.shared.readCommitted({ $0.endPendingGroup() }) { steps.endGroup() }
  }

  // MARK: Undoing

  /// Undoes the last step in one transaction: sets each property that the step changed as it was before, unless another writer has changed
  /// the property since.
  ///
  /// ```swift
  /// do {
  ///   let result = try store.undo.undo()
  ///   for conflict in result.conflicts { print("stays:", conflict) }
  /// } catch UndoError.overtaken(let step, let conflicts) {
  ///   print("\(step.actionName) cannot be undone:", conflicts)
  /// }
  /// ```
  ///
  /// - Returns: the step, and what was left as it is.
  /// - Throws: ``UndoError``. Then nothing is changed.
  /// - Complexity: what the step changed.
  @discardableResult
  public func undo() throws(UndoError) -> UndoResult { try revert(isRedo: false) }

  /// Redoes the step that was undone last in one transaction: sets each property that undoing it changed as it was before, unless another
  /// writer has changed the property since.
  ///
  /// - Returns: the step, and what was left as it is.
  /// - Throws: ``UndoError``. Then nothing is changed.
  /// - Complexity: what the step changed.
  @discardableResult
  public func redo() throws(UndoError) -> UndoResult { try revert(isRedo: true) }

  private func revert(isRedo: Bool) throws(UndoError) -> UndoResult {
    if isInTransaction { throw .insideTransaction }
    // Taken when it is the caller's turn to write, so that of two callers each has a step of its own.
    let result = store.shared.transaction(store.token, context: nil, origin: nil) { token in
      store.shared.write(token) { core in
        steps.revert(isRedo: isRedo) { step in
          core.feed.context = step.context
          defer { core.log.appendEnd { steps.tell() } }
          return core.revertStep(step)
        }
      }
    }
    return try result.get()
  }

  private var isInTransaction: Bool {
    store.shared.readCommitted { $0.turns.isOpen && $0.turns.sees(currentThread(), token: store.token) }
  }

  // MARK: The steps

  /// The steps that can be undone, the oldest first.
  public var undoSteps: [UndoStep] { steps.steps(isRedo: false) }

  /// The steps that can be redone; the last is the next.
  public var redoSteps: [UndoStep] { steps.steps(isRedo: true) }

  /// The state that menus show: whether something can be undone or redone, and how it is called.
  public var status: UndoStatus { steps.status }

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

  /// The present status, and each new one. A reader that is slow misses those between.
  ///
  /// ```swift
  /// for await status in store.undo.statuses { undoButton.isEnabled = status.canUndo }
  /// ```
  public var statuses: AsyncStream<UndoStatus> { steps.statuses }
}

extension EntityStore {
  /// The history of the steps that were recorded in this store.
  ///
  /// ```swift
  /// store.undo.record("Like") { tx in tx.update(Book.self, id: "ACK") { $0.likes += 1 } }
  /// try store.undo.undo()
  /// ```
  ///
  /// A store of which nobody asks for it has none, and pays nothing.
  public var undo: UndoHistory {
    let steps = shared.readCommitted { core in
      if let steps = core.undoSteps { return steps }
      let steps = UndoSteps()
      core.undoSteps = steps
      return steps
    }
    return UndoHistory(store: self, steps: steps)
  }
}
