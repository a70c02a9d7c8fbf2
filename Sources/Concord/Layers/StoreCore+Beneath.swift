// A write on which no layer depends goes beneath the layers while they are shown. The result is the same as if they were
// taken off before and replayed afterwards, without that cost. If some layers depend on it, only these are taken off and
// replayed, with those that depend on the same nodes.
extension StoreCore {
  /// Prepares for a write: takes all layers off, unless none depends on the written entity. The lock is held.
  ///
  /// - Parameter target: the written entity; `nil` if it is not known.
  func beginLayeredWrite(to target: WriteTarget?) {
    guard let target else { return exposeBase() }
    if layers.running != nil {
      layers.willWrite(target.node)
    } else if target.writesOthers || !mayWriteBeneath(target.node) {
      exposeBase()
    }
  }

  /// Whether the base has a value already, with all it contains, so that to store it changes nothing, whatever layers depend on the
  /// entity.
  ///
  /// - Complexity: the number of entities in the value.
  func isInBase<T: Identifiable & Sendable>(_ value: T, _ node: EntityNode<T>, _ stamp: Stamp?) -> Bool {
    guard layers.running == nil, stamp == nil, !clock.isClock, let table = node.table as? Table<T> else { return false }
    if table.isAggregate { return isAggregateInBase(value, in: table) }
    guard layers.mayWriteBeneath else { return false }
    guard let base = layers.lists.overlay.state(of: node) else {
      return node.exists && node.value.map { table.isSame($0, value) } ?? false
    }
    return base.flags.contains(.exists) && base.typed(T.self)?.value.map { table.isSame($0, value) } ?? false
  }

  private func isAggregateInBase<T: Identifiable & Sendable>(_ value: T, in table: Table<T>) -> Bool {
    guard layers.mayWriteBeneath, !projections.isWanted, !layers.hasShadows, !layers.lists.overlay.hasReshaped else {
      return false
    }
    prepare()
    let overlay = layers.lists.overlay
    // What was brought up to date just now may have changed what is shown.
    return layers.mayWriteBeneath && merge.isUnchanged(since: overlay.state(of:)) { visitor.visit(value, in: table) }
  }

  /// Prepares for the rollback of a layer: takes it off alone, or all layers if that is not possible.
  func takeOff(_ record: LayerRecord) {
    guard layers.mayWriteBeneath, !layers.footprints.areOfAll, !projections.isWanted,
      let nodes = layers.footprints.nodes(of: ObjectIdentifier(record)), takeOffThose(on: nodes)
    else { return exposeBase() }
  }

  /// Whether a node, or an entity that is not stored, may be written while layers are shown, because none depends on it any
  /// longer.
  private func mayWriteBeneath(_ node: Node?) -> Bool {
    guard layers.mayWriteBeneath, !layers.footprints.areOfAll, !projections.isWanted else { return false }
    // No layer depends on an entity that is not stored: an update would have failed, and other look-ups are not traced.
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
    // Parents may have computed relations, which may change with the node.
    return node.parents.count <= 16 && node.parents.allSatisfy { $0.parent.table.isInternal }
  }

  /// Takes off the layers that depend on some nodes, with those that depend on the same nodes as they do.
  ///
  /// - Returns: whether that was possible without taking off all: the nodes that they change exist in the base, and contain
  ///   nothing.
  private func takeOffThose(on nodes: Footprints.Nodes) -> Bool {
    if layers.lists.overlay.hasReshaped { return false }
    let group = layers.footprints.group(of: nodes)
    let states = group.nodes.compactMap { layers.lists.overlay.state(of: $0) }
    guard states.allSatisfy({ $0.flags.contains(.exists) && $0.children == nil && isAlone($0.node) }) else {
      return false
    }
    layers.goBeneath()
    layers.lists.takeOff(group.records)
    for state in states {
      layers.lists.removeState(of: ObjectIdentifier(state.node))
      layers.lists.removeSteps(of: ObjectIdentifier(state.node))
      takeOff(state)
    }
    return true
  }
}
