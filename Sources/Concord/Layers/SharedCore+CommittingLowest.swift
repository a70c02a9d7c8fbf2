// The lowest of the layers that depend on the same nodes becomes a part of the base while the others stay shown: what they
// were shown above is the same as before.
extension SharedCore {
  /// Commits a layer below which no other one changes what it depends on, without replaying those above.
  ///
  /// The closure runs on the base of its nodes. If the result is not what the next layers were shown above, because the closure
  /// made another change than before, nothing has changed.
  ///
  /// - Returns: whether that was possible.
  /// - Complexity: that of the closure, however many layers there are.
  func commitLowest(_ record: LayerRecord) -> Bool {
    guard let states = core.statesOfLowest(record) else { return false }
    core.prepare()
    let savepoint = core.savepoint
    let outer = core.graph.journal.begin()
    let nodes = core.takeOffLowest(record, states)
    let start = core.graph.journal.count
    let problem = run(record, as: .commits, record.apply)
    let isDone =
      problem == nil && core.layers.state.requests.isEmpty && core.layers.ranAsBefore(record, since: start)
      && core.showAgain(nodes)
    if !isDone { core.rollBack(to: savepoint) }
    core.graph.journal.end(outer)
    return isDone
  }
}

/// A node that was taken off.
private struct TakenOffNode {
  let shown: SavedState
  /// The state that the next layer was shown above; that which is shown if no other layer changes the node.
  let next: SavedState
  /// Whether other layers change the node, and so are to be shown again.
  let isShownByOthers: Bool
}

extension StoreCore {
  /// The base states of the nodes on which a layer depends, in the order in which they were first changed, if the layer can be
  /// committed alone: no lower layer changes any of them.
  fileprivate func statesOfLowest(_ record: LayerRecord) -> [SavedState]? {
    guard layers.running == nil, layers.mayWriteBeneath, !layers.footprints.areOfAll, !projections.isWanted,
      !layers.lists.takenOff.contains(ObjectIdentifier(record)), !layers.lists.overlay.hasReshaped,
      !layers.hasShadows, layers.lists.runs[ObjectIdentifier(record)] == nil,
      let nodes = layers.footprints.nodes(of: ObjectIdentifier(record)),
      let changed = layers.nodesChanged(by: record)
    else { return nil }
    // A lower layer may depend also on what it did not change.
    if !layers.lists.pending.isFirst(ObjectIdentifier(record)),
      !changed.allSatisfy({ areDependents(of: $0, on: .above, record) })
    {
      return nil
    }
    let states = layers.lists.overlay.states(of: nodes + layeredNodes(insideWholesOf: record, besides: nodes))
    return states.allSatisfy { isLowest(record, of: $0) } ? states : nil
  }

  private func isLowest(_ record: LayerRecord, of base: SavedState) -> Bool {
    guard let step = layers.lists.steps[ObjectIdentifier(base.node)]?.first, base.canBeRestoredAlone else {
      return false
    }
    if step.record == ObjectIdentifier(record) { return true }
    let pending = layers.lists.pending
    guard let other = pending.position(of: step.record), let own = pending.position(of: ObjectIdentifier(record)) else {
      return false
    }
    return other > own
  }

  /// Returns the nodes that layers change inside of those which stand for all inside them in the footprint of a layer, before it
  /// ran and after that.
  ///
  /// - Complexity: constant, if layers change nothing beside the footprint; otherwise the number of nodes inside.
  private func layeredNodes(
    insideWholesOf record: LayerRecord, besides nodes: Footprints.Nodes
  ) -> Footprints.Nodes {
    let overlay = layers.lists.overlay
    var open = layers.footprints.wholes(of: ObjectIdentifier(record))
    guard !open.isEmpty, overlay.count > nodes.count(where: { overlay.state(of: $0) != nil }) else { return [] }
    let known = Set(nodes)
    var visited: Set<ObjectIdentifier> = []
    var found: Footprints.Nodes = []
    while let node = open.popLast() {
      let id = ObjectIdentifier(node)
      guard visited.insert(id).inserted else { continue }
      guard let base = overlay.state(of: id) else {
        for edge in node.children?.edges ?? [] { open.append(edge.child) }
        continue
      }
      if !known.contains(id) { found.append(id) }
      for edge in base.children?.list.edges ?? [] { open.append(edge.child) }
      guard let steps = layers.lists.steps[id], steps.first?.record == ObjectIdentifier(record) else { continue }
      let after = steps.second.map { $0.before.children?.list } ?? node.children
      if after !== base.children?.list { for edge in after?.edges ?? [] { open.append(edge.child) } }
    }
    return found
  }

  /// Restores the base states of nodes that layers change.
  fileprivate func takeOffLowest(_ record: LayerRecord, _ states: [SavedState]) -> [TakenOffNode] {
    layers.goBeneath()
    layers.lists.remove(record)
    var nodes: [TakenOffNode] = []
    for base in states.reversed() {
      let node = ObjectIdentifier(base.node)
      guard let steps = layers.lists.steps[node] else { continue }
      let isOwn = steps.first?.record == ObjectIdentifier(record)
      let shown = base.node.table.save(base.node)
      shown.keepForLayers()
      let next = isOwn ? steps.second?.before : base
      nodes.append(TakenOffNode(shown: shown, next: next ?? shown, isShownByOthers: next != nil))
      if next == nil { layers.lists.removeState(of: node) }
      if isOwn { layers.lists.takeFirstStep(of: node) }
      takeOff(base)
    }
    return nodes
  }

  /// Shows the layers above again. The present states are the base.
  ///
  /// - Returns: whether these are what the layers were shown above.
  fileprivate func showAgain(_ nodes: [TakenOffNode]) -> Bool {
    guard nodes.allSatisfy({ hasContents($0.shown.node, of: $0.next) }) else { return false }
    for node in nodes.reversed() where node.isShownByOthers {
      let shown = node.shown.node
      let base = shown.table.save(shown)
      base.keepForLayers()
      layers.lists.replaceState(by: base)
      graph.journal.save(shown, isWrite: true)
      restoreLayered(node.shown)
      // That of the base: layers have no stamps.
      shown.stamp = base.stamp
      graph.didWrite(shown)
    }
    return true
  }

  /// Whether a node has the value of a state, and the same entities inside, whatever these are like.
  private func hasContents(_ node: Node, of state: SavedState) -> Bool {
    guard node.links?.component === state.component else { return false }
    if let list = state.children?.list {
      guard let children = node.children,
        list === children || children.isSameInAnyOrder(list.schema, list.edges, list.ends)
      else { return false }
    } else if node.children != nil {
      return false
    }
    return node.exists == state.flags.contains(.exists) && node.table.hasSameFields(.own(node), as: state, graph)
  }
}

/// A side of a layer in the stack.
private enum Side { case below, above }

extension StoreCore {
  /// Whether all other layers that depend on a node, which a layer changed, are on one side of that.
  fileprivate func areDependents(of node: Node, on side: Side, _ record: LayerRecord) -> Bool {
    if layers.footprints.mayBeInsideWhole(node) { return false }
    let (id, own) = (ObjectIdentifier(node), ObjectIdentifier(record))
    let records = layers.footprints.records(of: id)
    let steps = layers.lists.steps[id]
    // Fast path: all that depend on the node change it, so that the steps have their order.
    if records.count == steps?.count, (side == .above ? steps?.first : steps?.last)?.record == own { return true }
    let pending = layers.lists.pending
    guard let position = pending.position(of: own) else { return false }
    return records.allSatisfy { other in
      guard other != own, let other = pending.position(of: other) else { return true }
      return side == .above ? other > position : other < position
    }
  }
}

// MARK: Rolling back

extension StoreCore {
  /// Takes off a layer if no other one above depends on what it changed: restores what was shown before it, and replays
  /// nothing.
  ///
  /// - Returns: whether that was possible.
  /// - Complexity: what the layer changed, however many layers there are.
  func takeOffTopmost(_ record: LayerRecord) -> Bool {
    guard let nodes = nodesOfTopmost(record) else { return false }
    layers.goBeneath()
    for node in nodes.reversed() {
      let id = ObjectIdentifier(node)
      guard let steps = layers.lists.steps[id], let last = steps.last else { continue }
      if steps.count == 1, let base = layers.lists.overlay.state(of: id) {
        layers.lists.removeState(of: id)
        layers.lists.takeLastStep(of: id)
        takeOff(base)
      } else {
        // That of the base: layers have no stamps.
        let stamp = node.stamp
        layers.lists.takeLastStep(of: id)
        takeOff(last.before)
        node.stamp = stamp
      }
    }
    return true
  }

  /// The nodes that a layer changed, if it can be taken off alone: no layer above depends on any of them.
  private func nodesOfTopmost(_ record: LayerRecord) -> ContiguousArray<Node>? {
    let id = ObjectIdentifier(record)
    let lists = layers.lists
    guard layers.mayWriteBeneath, layers.footprints.areKnown, !projections.isWanted, !lists.takenOff.contains(id),
      lists.runs[id] == nil, !lists.overlay.hasReshaped, !layers.hasShadows,
      layers.footprints.nodes(of: id) != nil, let nodes = layers.nodesChanged(by: record),
      lists.pending.contains(id)
    else { return nil }
    let isLast = lists.pending.isLast(id)
    if !isLast, layers.footprints.areOfAll { return nil }
    let canBeTakenOff = nodes.allSatisfy { node in
      let id = ObjectIdentifier(node)
      guard let step = lists.steps[id]?.last, step.record == ObjectIdentifier(record),
        lists.overlay.state(of: id) != nil, step.before.canBeRestoredAlone
      else { return false }
      return isLast || areDependents(of: node, on: .below, record)
    }
    return canBeTakenOff ? nodes : nil
  }
}

extension SavedState {
  /// Whether the node can go back to the state without a search for cycles.
  fileprivate var canBeRestoredAlone: Bool {
    !node.table.isRecursive || node.children === children?.list && node.links?.component === component
  }
}
