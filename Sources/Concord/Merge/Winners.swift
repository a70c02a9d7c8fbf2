// Several values of one entity in one call: which of them is the entity's.
extension Merge {
  /// Of several values of one entity the outermost wins, among equals the last. What a closure changed goes before what it was
  /// given. Afterwards each node knows its winner.
  func pickWinners() {
    for i in occurrences.items.indices { occurrences.items[i].node.occurrence = -1 }
    for i in occurrences.items.indices where isCandidate(i) {
      let node = occurrences.items[i].node
      if node.occurrence >= 0 {
        guard goesBefore(i, Int(node.occurrence)) else { continue }
        // Whatever value wins, the entity is new.
        let isNew = occurrences.items[Int(node.occurrence)].state.intersection(.isNew)
        occurrences.items[i].state.formUnion(isNew)
      }
      node.occurrence = Int32(truncatingIfNeeded: i)
    }
  }

  private func isCandidate(_ i: Int) -> Bool {
    let item = occurrences.items[i]
    guard item.replacement < 0 else { return false }
    if takesOnlyNew { return item.state.contains(.isNew) }
    return base == nil || !item.state.isDisjoint(with: [.counts, .isNew]) || !(base?.isOnlyEdits ?? false)
  }

  /// Whether a later occurrence goes before an earlier one.
  private func goesBefore(_ later: Int, _ earlier: Int) -> Bool {
    let (a, b) = (occurrences.items[later], occurrences.items[earlier])
    if a.state.contains(.isEdit) != b.state.contains(.isEdit) { return a.state.contains(.isEdit) }
    return a.level <= b.level
  }
}
