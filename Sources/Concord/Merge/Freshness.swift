// Which writes are taken, and which are discarded because they are not newer than what is stored.
extension Merge {
  /// Whether a write is taken. If its stamp is newer than the stored one, it takes that one's place. A write without a stamp, and
  /// one that is always taken, leave the stored stamp alone.
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

/// The stamp of an entity that is new to the store: below all others if it has none, or none to compare with.
@usableFromInline func firstStamp(_ stamp: Stamp?) -> Stamp {
  guard let stamp, !stamp.isNaN else { return -.infinity }
  return stamp
}

extension Stamp {
  /// Above 2^53 not every whole number is a `Double`: two versions may be the same stamp.
  @usableFromInline var isImprecise: Bool { magnitude > 9_007_199_254_740_992 && isFinite }
}
