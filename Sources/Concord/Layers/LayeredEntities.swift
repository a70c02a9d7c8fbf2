/// The entities that pending layers change: that they make, change or remove.
package struct LayeredEntities {
  /// The number of entities of each type, by the type. Types of which nothing is changed are missing.
  package fileprivate(set) var counts: [ObjectIdentifier: Int] = [:]
  /// The ids of the entities of the types that were asked for.
  package fileprivate(set) var ids: [ObjectIdentifier: Set<AnyHashable>] = [:]

  package func count(of type: any Any.Type) -> Int { counts[ObjectIdentifier(type)] ?? 0 }
  package func ids(of type: any Any.Type) -> Set<AnyHashable> { ids[ObjectIdentifier(type)] ?? [] }
}

/// An entity that a layer wrote.
package struct LayeredEntity {
  package let type: any Any.Type
  package let id: AnyHashable
  /// Whether the entity is there without any layer.
  package let isInBase: Bool
}

/// A follower of the layers of a store: what it has to change with them it changes in the same transaction.
package struct LayerFollower: Sendable {
  /// A closure that returns the types whose ids it needs.
  let wanted: @Sendable () -> Set<ObjectIdentifier>
  /// A closure that is called when the layers are shown, before the transaction is committed. Returns whether it has written to the store.
  let follow: @Sendable (LayeredEntities) -> Bool

  package init(
    wanted: @escaping @Sendable () -> Set<ObjectIdentifier>, follow: @escaping @Sendable (LayeredEntities) -> Bool
  ) {
    (self.wanted, self.follow) = (wanted, follow)
  }
}

extension StoreCore {
  /// Returns what layers change, when they are shown at the end of a transaction. The lock is held.
  func layeredEntities(_ wanted: Set<ObjectIdentifier>) -> LayeredEntities {
    var layered = LayeredEntities()
    func note(_ node: Node) {
      guard wanted.contains(node.table.valueType), let id = node.table.id(of: node) else { return }
      layered.ids[node.table.valueType, default: []].insert(id)
    }
    let overlay = layers.lists.overlay
    layered.counts = overlay.counts
    if !wanted.isEmpty { for state in overlay.states { note(state.node) } }
    guard let mark = layers.state.mark, !layers.lists.pending.isEmpty else { return layered }
    for (state, isWrite) in graph.journal.firstStates(since: mark) where isWrite {
      guard !state.node.table.isInternal, overlay.state(of: state.node) == nil else { continue }
      layered.counts[state.node.table.valueType, default: 0] += 1
      note(state.node)
    }
    return layered
  }
}
