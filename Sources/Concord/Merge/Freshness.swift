// The decision whether a write is taken, or discarded because it is not newer than the stored value.
extension Merge {
  /// Decides whether a write is taken. A newer stamp replaces the stored one. A write without a stamp, or one that is always
  /// taken, keeps the stored stamp.
  func accept(_ node: Node, _ stamp: Stamp?) -> Bool {
    if let stamp, !(stamp > node.stamp) {
      guard clock.isAlwaysTaken(stamp) else {
        logDiscarded(node, stamp)
        return false
      }
      return accept(node, nil)
    }
    graph.journal.willWrite(node)
    graph.journal.countWrite()
    if let stamp { node.stamp = stamp }
    logStored(node, stamp)
    return true
  }

  func logDiscarded(_ node: Node, _ stamp: Stamp) {
    log.append(.discarded(stamp, stored: node.stamp), node)
    if clock.isOwn(stamp) { log.append(.outrun(stamp, stored: node.stamp), node) }
  }

  func logStored(_ node: Node, _ stamp: Stamp?) {
    guard log.isWanted else { return }
    log.append(.stored, node)
    assert(unrelated.note(node))
    if let stamp, stamp.isImprecise { log.append(.imprecise(stamp), node) }
  }
}

/// Returns the stamp of an entity that is new to the store: the lowest one if the write has none, or NaN.
@usableFromInline func firstStamp(_ stamp: Stamp?) -> Stamp {
  guard let stamp, !stamp.isNaN else { return -.infinity }
  return stamp
}

extension Stamp {
  /// Whether the stamp is above 2^53, where a `Double` does not distinguish all integers, so that two versions may be the
  /// same stamp.
  @usableFromInline var isImprecise: Bool { magnitude > 9_007_199_254_740_992 && isFinite }
}
