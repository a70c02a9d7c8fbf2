/// Access to stamps for the other modules of the package.
extension EntityStore {
  /// Returns a stored entity with its stamp.
  package func stampedValue<T: Identifiable & Sendable>(_ type: T.Type, id: T.ID) -> (value: T, stamp: Stamp)? {
    shared.read(token) { core, isCommitted in
      guard let node = core.graph.table(type).find(id) else { return nil }
      if isCommitted {
        let stamp = core.graph.journal.committedState(of: node)?.stamp ?? node.stamp
        return core.committedValue(of: node).map { ($0, stamp) }
      }
      guard node.exists else { return nil }
      if node.isStale { core.refresh(node) }
      return node.value.map { ($0, node.stamp) }
    }
  }

  /// Advances the clock, so that later writes without a stamp are newer than a stamp from another store's clock.
  package func advanceClock(to stamp: Stamp) { shared.inspect(token) { $0.clock.advance(to: stamp) } }
}
