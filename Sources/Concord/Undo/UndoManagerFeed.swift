#if canImport(ObjectiveC)
  public import Foundation

  /// A feed of Foundation's `UndoManager` with the steps of histories, so that the *Edit* menu, a shake and three fingers undo them.
  ///
  /// ```swift
  /// let feed = UndoManagerFeed(undoManager, steps: store.undo, connect.undoManager, connect.outbox.undoManager) { result in
  ///   if case .failure(let error) = result { show(error) }
  /// }
  /// ```
  ///
  /// A step appears in the `UndoManager` under its name soon after it was recorded, in a group of its own, between the steps that are registered
  /// there otherwise. What is undone or redone there is undone and redone in the history; what a history has discarded, or undone otherwise, goes.
  /// The steps stay for as long as this object is retained.
  @MainActor public final class UndoManagerFeed {
    private let feed: UndoFeed

    /// Starts to feed.
    ///
    /// - Parameters:
    ///   - undoManager: the manager of a window or of a document, which is retained.
    ///   - histories: the histories of the steps.
    ///   - onResult: a closure that receives what came of each step that was undone or redone through the manager.
    public init(
      _ undoManager: UndoManager, steps histories: any StepHistory...,
      onResult: @escaping @MainActor (Result<UndoResult, any Error>) -> Void = { _ in }
    ) {
      feed = UndoFeed(FoundationUndoMenu(undoManager), histories, onResult: onResult)
    }

    /// Takes all steps out of the manager, for good.
    public func stop() { feed.stop() }
  }

  @MainActor private final class FoundationUndoMenu: UndoMenu {
    private let manager: UndoManager

    init(_ manager: UndoManager) { self.manager = manager }

    var isIdle: Bool {
      manager.groupingLevel == 0 && !manager.isUndoing && !manager.isRedoing && manager.isUndoRegistrationEnabled
    }

    func add(_ step: UndoMenuStep) {
      // Otherwise all steps of one turn of the run loop would be in one group, and be undone together.
      let groupsByEvent = manager.groupsByEvent
      if manager.groupingLevel == 0 { manager.groupsByEvent = false }
      defer { manager.groupsByEvent = groupsByEvent }
      manager.beginUndoGrouping()
      // The manager does not retain its target, and retains the closure.
      manager.registerUndo(withTarget: step) { _ in MainActor.assumeIsolated { step.perform() } }
      manager.setActionName(step.actionName)
      manager.endUndoGrouping()
    }

    func remove(_ step: UndoMenuStep) { manager.removeAllActions(withTarget: step) }
    func undo() { manager.undo() }
  }
#endif
