// What an observer was shown when it paused, compared with what there is when it resumes.
extension StoreCore {
  /// Saves what is shown; `nil` while a transaction is open, since its end may show something else.
  func save(_ node: Node) -> SavedState? {
    if turns.isOpen { return nil }
    refresh(node)
    return node.table.save(node)
  }

  /// Whether the same is shown as when it was saved.
  func isSame(_ node: Node, as state: SavedState) -> Bool {
    if turns.isOpen { return false }
    refresh(node)
    return node.table.isSame(node, as: state)
  }
}
