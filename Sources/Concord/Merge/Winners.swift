// The choice among several values of one entity in one call.
extension Merge {
  /// Picks the winner for each node: the outermost of several values of one entity, or the last of equally nested ones. A
  /// closure's changes win over values that it received.
  func pickWinners() {
    for i in occurrences.items.indices where !occurrences.items[i].state.contains(.isFlat) {
      occurrences.items[i].borrowed.use { $0.occurrence = -1 }
    }
    for i in occurrences.items.indices where isCandidate(i) {
      occurrences.items[i].borrowed.use { node in
        if node.occurrence >= 0 {
          guard goesBefore(i, Int(node.occurrence)) else { return }
          // The entity is new, whichever value wins.
          let isNew = occurrences.items[Int(node.occurrence)].state.intersection(.isNew)
          occurrences.items[i].state.formUnion(isNew)
        }
        node.occurrence = Int32(truncatingIfNeeded: i)
      }
    }
  }

  private func isCandidate(_ i: Int) -> Bool {
    guard occurrences.items[i].replacement < 0 else { return false }
    let state = occurrences.items[i].state
    if takesOnlyNew { return state.contains(.isNew) }
    // In an update only edits and new entities take part; otherwise all values do.
    return base == nil || !state.isDisjoint(with: [.counts, .isNew]) || !(base?.isOnlyEdits ?? false)
  }

  /// Whether a later occurrence wins over an earlier one.
  private func goesBefore(_ later: Int, _ earlier: Int) -> Bool {
    let isEdit = occurrences.items[later].state.contains(.isEdit)
    if isEdit != occurrences.items[earlier].state.contains(.isEdit) { return isEdit }
    return occurrences.items[later].level <= occurrences.items[earlier].level
  }
}
