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
    guard let nodes = core.nodesOfLowest(record) else { return false }
    core.prepare()
    let savepoint = core.savepoint
    let outer = core.graph.journal.begin()
    let start = core.graph.journal.count
    let shown = core.takeOffLowest(record, nodes)
    let problem = run(record, as: .commits, record.apply)
    let isDone =
      problem == nil && core.layers.state.requests.isEmpty && core.layers.ranAsBefore(record, since: start)
      && core.showAgain(shown)
    if !isDone { core.rollBack(to: savepoint) }
    core.graph.journal.end(outer)
    return isDone
  }
}

/// A node that was taken off, and is to be shown again.
private struct TakenOffNode {
  let shown: SavedState
  /// The state that the next layer was shown above.
  let next: SavedState
}

extension StoreCore {
  /// The nodes on which a layer depends, if it can be committed alone: no lower layer changes any of them, and they contain
  /// nothing.
  fileprivate func nodesOfLowest(_ record: LayerRecord) -> Footprints.Nodes? {
    guard layers.running == nil, layers.mayWriteBeneath, !layers.footprints.areOfAll, !projections.isWanted,
      !layers.lists.takenOff.contains(ObjectIdentifier(record)), !layers.lists.overlay.hasReshaped,
      !layers.hasShadows, let nodes = layers.footprints.nodes(of: ObjectIdentifier(record)),
      nodes.allSatisfy({ isLowest(record, of: $0) })
    else { return nil }
    return nodes
  }

  private func isLowest(_ record: LayerRecord, of node: ObjectIdentifier) -> Bool {
    guard let step = layers.lists.steps[node]?.first else { return layers.lists.overlay.state(of: node) == nil }
    guard let base = layers.lists.overlay.state(of: node), base.children == nil, base.node.children == nil,
      !base.node.table.isRecursive
    else { return false }
    if step.record == ObjectIdentifier(record) { return true }
    let pending = layers.lists.pending
    guard let other = pending.position(of: step.record), let own = pending.position(of: ObjectIdentifier(record)) else {
      return false
    }
    return other > own
  }

  /// Restores the base states of the nodes that layers change.
  ///
  /// - Returns: those that layers above change, too.
  fileprivate func takeOffLowest(_ record: LayerRecord, _ nodes: Footprints.Nodes) -> [TakenOffNode] {
    layers.goBeneath()
    layers.lists.remove(record)
    var shown: [TakenOffNode] = []
    for node in nodes {
      guard let base = layers.lists.overlay.state(of: node), let steps = layers.lists.steps[node] else { continue }
      let isOwn = steps.first?.record == ObjectIdentifier(record)
      if let next = isOwn ? steps.second?.before : base {
        shown.append(TakenOffNode(shown: base.node.table.save(base.node), next: next))
      } else {
        layers.lists.removeState(of: node)
      }
      if isOwn { layers.lists.takeFirstStep(of: node) }
      takeOff(base)
    }
    return shown
  }

  /// Shows the layers above again. The present states are the base.
  ///
  /// - Returns: whether these are what the layers were shown above.
  fileprivate func showAgain(_ nodes: [TakenOffNode]) -> Bool {
    for node in nodes {
      let (shown, next) = (node.shown.node, node.next)
      guard shown.children == nil, next.children == nil, shown.table.isSame(shown, as: next) else { return false }
    }
    for node in nodes {
      let shown = node.shown.node
      layers.lists.replaceState(by: shown.table.save(shown))
      let stamp = shown.stamp
      graph.journal.save(shown, isWrite: true)
      restore(node.shown)
      // That of the base: layers have no stamps.
      shown.stamp = stamp
      graph.didWrite(shown)
    }
    return true
  }
}
