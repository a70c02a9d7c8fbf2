extension PersistentContainer {
  /// The history of the steps that were recorded in the container's view.
  ///
  /// ```swift
  /// try container.undoManager.record("Delete") { view in try view.delete(Book.self, id: "ACK") }
  /// try container.undoManager.undo()
  /// ```
  public var undoManager: ContainerUndoManager { ContainerUndoManager(viewContext) }
}
