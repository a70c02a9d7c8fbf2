// A write that no layer depends on goes beneath the layers while they are shown. It is the same as if they were taken off before and
// replayed afterwards, and costs nothing of it.
extension StoreCore {
  /// Before a write: takes all layers off, unless none depends on what is written. The lock is held.
  ///
  /// - Parameter target: `nil` if it is not known what is written.
  func beginLayeredWrite(to target: WriteTarget?) {
    guard let target else { return exposeBase() }
    if layers.running != nil {
      layers.willWrite(target.node)
    } else if layers.mayWriteBeneath, !target.writesOthers, isIndependentOfLayers(target.node) {
      layers.goBeneath()
    } else {
      exposeBase()
    }
  }

  /// Whether what layers make of the base is the same, whatever is written to a node, or to one that is not there.
  private func isIndependentOfLayers(_ node: Node?) -> Bool {
    if layers.footprints.areOfAll || projections.isWanted { return false }
    // No layer has looked for an entity that is not there: an update would have failed, and the like is not traced.
    guard let node else { return true }
    if !node.exists || layers.footprints.contains(node) || node.children != nil || node.table.isRecursive {
      return false
    }
    // Others that contain it may have computed relations, and so be of another shape afterwards.
    return node.parents.count <= 16 && node.parents.allSatisfy { $0.parent.table.isInternal }
  }
}
