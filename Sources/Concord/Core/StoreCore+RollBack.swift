// Undoing a transaction that throws: the journal has the states, this brings them back.
extension StoreCore {
  /// What a transaction that throws goes back to, beside the journal.
  struct Savepoint {
    let writes: WriteSavepoint
    /// `nil` if there were no layers.
    let layers: LayerStack.State?
  }

  /// How far the writes were, without the layers.
  struct WriteSavepoint {
    let logCount: Int
    let clearedCount: Int
  }

  var savepoint: Savepoint { Savepoint(writes: writeSavepoint, layers: layers.isActive ? layers.state : nil) }
  var writeSavepoint: WriteSavepoint { WriteSavepoint(logCount: log.count, clearedCount: removal.cleared.count) }

  /// Undoes all that was written since the innermost savepoint.
  func rollBack(to savepoint: Savepoint) {
    layers.goBack(to: savepoint.layers)
    undoWrites(to: savepoint.writes)
  }

  /// Undoes the writes alone, and leaves the layers as they are.
  func undoWrites(to savepoint: WriteSavepoint) {
    removal.flush()
    needsComparison = true
    log.truncate(to: savepoint.logCount)
    removal.undoClearing(to: savepoint.clearedCount)
    let upToDate = graph.journal.undo(restore)
    components.resolve()
    graph.makeUpToDate(upToDate)
  }

  func restore(_ state: SavedState) {
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
    for ordinal in 0..<Int32(truncatingIfNeeded: node.children?.edges.count ?? 0) { graph.makeStale(node, ordinal) }
    node.flags.subtract([.invalidatedParents, .invalidatedCycle])
    node.parents.unmarkAll()
    graph.invalidate(node)
    graph.unexamined.insert(node)
  }
}
