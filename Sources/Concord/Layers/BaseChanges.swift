extension OptimisticLayer {
  /// What committing this layer alone would change in the base, without changing anything.
  ///
  /// Entities that would go because nobody needs them are not among the changes, those that the closure removes are.
  ///
  /// - Throws: what the closure throws, or ``NothingToUpdate``: it does not apply to the base.
  /// - Complexity: that of ``commit()``.
  package func baseChanges() throws -> [ChangeSet.Change] { try shared.baseChanges(of: record) }
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
  /// The entities that were changed since an entry of the journal, as they are now.
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

  /// The change from what an entity is now.
  fileprivate func change(of node: Node, to new: (any Identifiable & Sendable)?) -> ChangeSet.Change? {
    if node.exists { refresh(node) }
    let old = node.exists ? node.table.entity(of: node) : nil
    guard let id = node.table.id(of: node), let type = (new ?? old).map({ Swift.type(of: $0) }) else { return nil }
    return ChangeSet.Change(type: type, id: id, old: old, new: new, wasRemoved: new == nil, givenStamp: nil)
  }
}
