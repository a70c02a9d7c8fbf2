// The decision whether a write is taken, or discarded because it is not newer than the stored value.
extension Merge {
  /// Whether a write is taken. If it has a stamp, that takes the stored one's place; a write that is taken although its stamp is not
  /// newer leaves the stored one alone.
  func accept(_ node: Node, _ stamp: WriteStamp) -> Bool {
    switch stamp {
    case .none: take(node, node.stamp, stamp)
    case .clock(let tick):
      if tick <= node.stamp { log.append(.outrun(tick, stored: node.stamp), node) }
      take(node, tick.raised(above: node.stamp), stamp)
    case .given(let given):
      if given > node.stamp {
        take(node, given, stamp)
      } else if clock.isAlwaysTaken(given) {
        take(node, node.stamp, .none)
      } else {
        logDiscarded(node, given)
        return false
      }
    }
    return true
  }

  private func take(_ node: Node, _ newStamp: Stamp, _ stamp: WriteStamp) {
    graph.journal.willWrite(node)
    graph.journal.countWrite()
    node.stamp = newStamp
    didStamp(node, stamp)
  }

  /// A node has the stamp of a write.
  func didStamp(_ node: Node, _ stamp: WriteStamp) {
    if case .clock = stamp {
      if graph.written.isProjected { didGiveStamp(node) }
      graph.written.noteOwnStamp(of: node)
    }
    logStored(node, stamp)
  }

  func logDiscarded(_ node: Node, _ stamp: Stamp) { log.append(.discarded(stamp, stored: node.stamp), node) }

  func logStored(_ node: Node, _ stamp: WriteStamp) {
    guard log.isWanted else { return }
    log.append(.stored, node)
    assert(unrelated.note(node))
    if case .given(let stamp) = stamp, stamp.isImprecise { log.append(.imprecise(stamp), node) }
  }
}

extension Stamp {
  /// Whether the stamp is above 2^53, where a `Double` does not distinguish all integers, so that two versions may be the
  /// same stamp.
  @usableFromInline var isImprecise: Bool { magnitude > 9_007_199_254_740_992 && isFinite }
}
