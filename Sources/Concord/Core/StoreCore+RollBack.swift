// Undoing a transaction that throws: restores the states that the journal has.
extension StoreCore {
  /// The state beside the journal that a transaction which throws restores.
  struct Savepoint {
    let writes: WriteSavepoint
    /// The layers; `nil` if there were none.
    let layers: LayerStack.State?
    /// The number of the journal's states.
    let position: Int
  }

  var savepoint: Savepoint {
    Savepoint(writes: writeSavepoint, layers: layers.savepoint, position: graph.journal.count)
  }
  var writeSavepoint: WriteSavepoint {
    WriteSavepoint(
      logCount: log.count, clearedCount: removal.cleared.count, removedCount: removal.recent.count,
      writtenCount: graph.written.count, stepCount: pendingSteps.count)
  }

  /// Undoes all writes since a savepoint, which is the innermost one.
  func rollBack(to savepoint: Savepoint) {
    layers.goBack(to: savepoint.layers)
    // What was written above the base may have left an earlier one.
    graph.journal.end(savepoint.position)
    undoWrites(to: savepoint.writes)
  }

  /// Undoes the writes since the innermost savepoint, without changing the layers.
  func undoWrites(to savepoint: WriteSavepoint) {
    removal.flush()
    needsComparison = true
    log.truncate(to: savepoint.logCount)
    removePendingSteps(to: savepoint.stepCount)
    removal.undo(to: savepoint)
    graph.written.truncate(to: savepoint.writtenCount)
    let upToDate = graph.journal.undo(restore)
    components.resolve()
    graph.makeUpToDate(upToDate)
  }

  /// Restores the state of a node, which may show something old in each place.
  func restore(_ state: SavedState) {
    restoreOwn(state)
    let node = state.node
    for ordinal in 0..<Int32(truncatingIfNeeded: node.children?.edges.count ?? 0) { graph.makeStale(node, ordinal) }
    node.flags.subtract(.invalidated)
    node.parents.unmarkAll()
    graph.invalidate(node)
    graph.unexamined.insert(node)
  }

  /// Restores a state that was saved for layers. If the node has the same list of children, it is known in which places the value may
  /// show something old.
  func restoreLayered(_ state: SavedState) {
    let node = state.node
    guard node.children === state.children?.list, node.links?.component === state.component,
      let children = state.children, let formerlyStale = children.list.formerlyStale
    else { return restore(state) }
    restoreOwn(state)
    for ordinal in children.stale { graph.makeStale(node, ordinal) }
    formerlyStale.forEach(in: children.list) { graph.makeStale(node, $0) }
    graph.invalidate(node)
    graph.unexamined.insert(node)
  }

  private func restoreOwn(_ state: SavedState) {
    let node = state.node
    node.table.restoreValue(of: node, from: state)
    node.stamp = state.stamp
    reachability.setRegistered(node, state.flags.contains(.registered))
    node.flags.subtract(.journaled)
    node.flags.formUnion(state.flags.intersection(.journaled))
    if let saved = state.children {
      if node.children !== saved.list {
        graph.setChildren(of: node, saved.list.schema, saved.list.edges, saved.list.ends)
      }
    } else {
      graph.removeChildren(of: node)
    }
    components.restore(node, state.component)
    node.children?.brief = nil
  }
}
