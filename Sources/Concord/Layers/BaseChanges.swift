extension OptimisticLayer {
  /// Returns the changes to the base that committing this layer alone would make, without making them.
  ///
  /// Entities that the closure removes are among the changes, those that would be released because nothing retains them are
  /// not.
  ///
  /// - Throws: what the closure throws, or ``NothingToUpdate``, if the closure does not apply to the base.
  /// - Complexity: that of ``commit()``.
  package func baseChanges() throws -> [ChangeSet.Change] { try shared.baseChanges(of: record) }
}

extension OptimisticLayer {
  /// The entities that the closure wrote when it last ran, also those that it left as they were; `nil` if it is not known to have done
  /// nothing else. No layer is taken off.
  ///
  /// - Complexity: their number.
  package var writtenEntities: [LayeredEntity]? {
    shared.readCommitted { core in
      core.layers.changedNodes(of: record)?.compactMap { node in
        guard let entity = node.table.entity(of: node), let id = node.table.id(of: node) else { return nil }
        let base = core.layers.lists.overlay.state(of: node)
        return LayeredEntity(
          type: type(of: entity), id: id, isInBase: base?.flags.contains(.exists) ?? node.exists)
      }
    }
  }
}

extension SharedCore {
  fileprivate func baseChanges(of record: LayerRecord) throws -> [ChangeSet.Change] {
    beginTurn(0)
    core.beginLayered()
    core.exposeBase()
    core.prepare()
    let savepoint = core.savepoint
    let outer = core.graph.journal.begin()
    let start = core.graph.journal.count
    let problem = run(record, as: .commits, record.apply)
    let changed = core.changes(since: start)
    core.rollBack(to: savepoint)
    core.graph.journal.end(outer)
    let changes = changed.compactMap { core.change(of: $0.node, to: $0.new) }
    endWrite()
    if let problem { throw problem }
    return changes
  }
}

extension StoreCore {
  /// Returns the entities changed since an entry of the journal, with their current values.
  fileprivate func changes(since start: Int) -> [(node: Node, new: (any Identifiable & Sendable)?)] {
    completeWrites()
    return graph.journal.writtenNodes(since: start).compactMap { node in
      guard let state = graph.journal.firstState(of: node, since: start), node.differs(from: state, graph) else {
        return nil
      }
      if node.exists { refresh(node) }
      return (node, node.exists ? node.table.entity(of: node) : nil)
    }
  }

  /// Returns the change from an entity's current value to another one.
  fileprivate func change(of node: Node, to new: (any Identifiable & Sendable)?) -> ChangeSet.Change? {
    if node.exists { refresh(node) }
    let old = node.exists ? node.table.entity(of: node) : nil
    guard let id = node.table.id(of: node), let type = (new ?? old).map({ Swift.type(of: $0) }) else { return nil }
    return ChangeSet.Change(type: type, id: id, old: old, new: new, wasRemoved: new == nil, givenStamp: nil)
  }
}
