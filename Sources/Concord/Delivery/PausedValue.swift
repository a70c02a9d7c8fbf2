// The comparison of the value that an observer had when it paused with the one when it resumes.
extension StoreCore {
  /// Returns the state of a node; `nil` while a transaction is open, whose end may change the state.
  func save(_ node: Node) -> SavedState? {
    if turns.isOpen { return nil }
    refresh(node)
    return node.table.save(node)
  }

  /// Whether a node has the same value as a saved state.
  func isSame(_ node: Node, as state: SavedState) -> Bool {
    if turns.isOpen { return false }
    refresh(node)
    return node.table.isSame(node, as: state)
  }
}
