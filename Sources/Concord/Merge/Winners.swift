// Several values of one entity in one call: which of them is the entity's.
extension Merge {
  /// Of several values of one entity the outermost wins, among equals the last. What a closure changed goes before what it was
  /// given. Afterwards each node knows its winner.
  func pickWinners() {
    for i in occurrences.items.indices where !occurrences.items[i].state.contains(.isFlat) {
      occurrences.items[i].borrowed.use { $0.occurrence = -1 }
    }
    for i in occurrences.items.indices where isCandidate(i) {
      occurrences.items[i].borrowed.use { node in
        if node.occurrence >= 0 {
          guard goesBefore(i, Int(node.occurrence)) else { return }
          // Whatever value wins, the entity is new.
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
    // Of what an update made only edits and new entities take part; of what is stored, everything.
    return base == nil || !state.isDisjoint(with: [.counts, .isNew]) || !(base?.isOnlyEdits ?? false)
  }

  /// Whether a later occurrence goes before an earlier one.
  private func goesBefore(_ later: Int, _ earlier: Int) -> Bool {
    let isEdit = occurrences.items[later].state.contains(.isEdit)
    if isEdit != occurrences.items[earlier].state.contains(.isEdit) { return isEdit }
    return occurrences.items[later].level <= occurrences.items[earlier].level
  }
}
