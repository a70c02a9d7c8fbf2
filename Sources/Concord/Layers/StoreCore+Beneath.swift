// A write that no layer depends on goes beneath the layers while they are shown. It is the same as if they were taken off before and
// replayed afterwards, and costs nothing of it. Where some layers depend on it, only these are taken off and replayed, with
// those that depend on the same as they do.
extension StoreCore {
  /// Before a write: takes all layers off, unless none depends on what is written. The lock is held.
  ///
  /// - Parameter target: `nil` if it is not known what is written.
  func beginLayeredWrite(to target: WriteTarget?) {
    guard let target else { return exposeBase() }
    if layers.running != nil {
      layers.willWrite(target.node)
    } else if target.writesOthers || !mayWriteBeneath(target.node) {
      exposeBase()
    }
  }

  /// Before a layer is taken back: takes it off alone, or all if that cannot be.
  func takeOff(_ record: LayerRecord) {
    guard layers.mayWriteBeneath, !layers.footprints.areOfAll, !projections.isWanted,
      let nodes = layers.footprints.nodes(of: ObjectIdentifier(record)), takeOffThose(on: nodes)
    else { return exposeBase() }
  }

  /// Whether a node, or one that is not there, may be written while layers are shown: none depends on it any longer.
  private func mayWriteBeneath(_ node: Node?) -> Bool {
    guard layers.mayWriteBeneath, !layers.footprints.areOfAll, !projections.isWanted else { return false }
    // No layer has looked for an entity that is not there: an update would have failed, and the like is not traced.
    guard let node else {
      layers.goBeneath()
      return true
    }
    guard isAlone(node) else { return false }
    if layers.footprints.contains(node) { return takeOffThose(on: [ObjectIdentifier(node)]) }
    layers.goBeneath()
    return true
  }

  /// Whether a write to a node changes nothing else.
  private func isAlone(_ node: Node) -> Bool {
    if !node.exists || node.children != nil || node.table.isRecursive { return false }
    // Others that contain it may have computed relations, and so be of another shape afterwards.
    return node.parents.count <= 16 && node.parents.allSatisfy { $0.parent.table.isInternal }
  }

  /// Takes off the layers that depend on some nodes, with those that depend on the same as they do.
  ///
  /// - Returns: whether that could be done without the others: what they change is in the base, and contains nothing.
  private func takeOffThose(on nodes: Footprints.Nodes) -> Bool {
    if layers.state.overlay.hasReshaped { return false }
    let group = layers.footprints.group(of: nodes)
    let states = group.nodes.compactMap { layers.state.overlay.state(of: $0) }
    guard states.allSatisfy({ $0.flags.contains(.exists) && $0.children == nil && isAlone($0.node) }) else {
      return false
    }
    layers.goBeneath()
    layers.state.takenOff.formUnion(group.records)
    for state in states {
      layers.state.overlay.remove(ObjectIdentifier(state.node))
      takeOff(state)
    }
    return true
  }
}
