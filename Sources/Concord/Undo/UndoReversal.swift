/// The undoing or redoing of a step: a transaction that takes its changes back. The lock is held.
final class UndoReversal {
  let core: StoreCore
  /// The position in the journal at which the transaction began.
  private let start: Int
  var hasChanged = false
  var conflicts: [UndoConflict] = []
  /// The entities that are being stored, since those of a cycle contain each other.
  private var storing: Set<UndoKey> = []
  /// The entities and aliases that the part inserted and other writes have changed since, with those that it inserted and that contain such. They
  /// stay, where the step has put them, since nothing else may retain them.
  private var kept: (nodes: Set<ObjectIdentifier>, keys: Set<UndoKey>) = ([], [])

  init(_ core: StoreCore) {
    self.core = core
    start = core.graph.journal.count
  }

  /// Takes back the changes of one part of a step.
  func revert(_ part: [any UndoableChange]) {
    let changes = part.compactMap { $0 as? AnyUndoChange }
    core.completeWrites()
    keep(changes)
    // First what other entities may contain again, last what they may have contained.
    for change in changes { change.restore(self) }
    let missing = changes.filter { !$0.update(self) }
    // An entity may be back that only another one of the step retains.
    for change in missing where !change.update(self) { change.reportMissing(self) }
    core.completeWrites()
    remove(changes)
    core.completeWrites()
  }

  private func keep(_ changes: [AnyUndoChange]) {
    kept = ([], [])
    var inserted: [ObjectIdentifier: AnyUndoChange] = [:]
    var open: [Node] = []
    func add(_ node: Node) {
      guard let change = inserted[ObjectIdentifier(node)], kept.nodes.insert(ObjectIdentifier(node)).inserted else {
        return
      }
      kept.keys.insert(change.key)
      open.append(node)
    }
    var changed: [Node] = []
    for change in changes {
      guard let (node, isChanged) = change.inserted(self) else { continue }
      inserted[ObjectIdentifier(node)] = change
      if isChanged { changed.append(node) }
    }
    for node in changed { add(node) }
    while let node = open.popLast() { for edge in node.parents { add(edge.parent) } }
  }

  /// Whether what the part inserted stays.
  func keeps(_ node: Node) -> Bool { kept.nodes.contains(ObjectIdentifier(node)) }

  /// The entities that stay in values of a type; `nil` if there are none.
  func keptEntities<T: Identifiable & Sendable>() -> KeptEntities<T>? {
    if kept.nodes.isEmpty { return nil }
    let (core, kept) = (core, kept)
    func key<E: Identifiable>(_ entity: E) -> UndoKey {
      UndoKey(type: ObjectIdentifier(E.self), id: AnyHashable(entity.id))
    }
    return KeptEntities {
      ($0 as? any Identifiable).map { kept.keys.contains(key($0)) } ?? false
    } mayBecome: {
      core.has($1, allOf: kept.nodes, in: $0)
    }
  }

  private func remove(_ changes: [AnyUndoChange]) {
    var inserted: [(change: AnyUndoChange, node: Node)] = []
    for change in changes { if let node = change.removable(self) { inserted.append((change, node)) } }
    core.completeWrites()
    var leaving = Set(inserted.map { ObjectIdentifier($0.node) })
    // Those that stay keep what they contain.
    while true {
      let staying = inserted.filter { leaving.contains(ObjectIdentifier($0.node)) && isInUse($0.node, except: leaving) }
      if staying.isEmpty { break }
      for (change, node) in staying {
        leaving.remove(ObjectIdentifier(node))
        change.reportInUse(self)
      }
    }
    for (_, node) in inserted where node.exists && leaving.contains(ObjectIdentifier(node)) {
      core.removal.remove(node)
      hasChanged = true
    }
  }

  private func isInUse(_ node: Node, except leaving: Set<ObjectIdentifier>) -> Bool {
    node.parents.contains { edge in
      let parent = edge.parent
      // A group is only what observers of several entities have.
      if parent.table.isInternal { return parent.flags.contains(.registered) }
      return parent.exists && !leaving.contains(ObjectIdentifier(parent))
    }
  }

  // MARK: Writing

  /// Whether an entity was not stored when the transaction began.
  func isNew(_ node: Node) -> Bool {
    core.graph.journal.firstState(of: node, since: start).map { !$0.flags.contains(.exists) } ?? false
  }

  func write<T: Identifiable & Sendable>(_ value: T, to node: EntityNode<T>, given: T) {
    hasChanged = true
    storeMissing(in: value)
    let value = core.upToDate(value, of: node)
    keepingStamps(except: node) {
      let table = core.graph.table(T.self)
      _ = core.finishUpdate(node, in: table, result: value, given: given, nil, isAlone: true, nil)
    }
  }

  /// Stores an entity, or names what an alias named.
  func store<T: Identifiable & Sendable>(_ value: T, in table: Table<T>) {
    hasChanged = true
    guard storing.insert(UndoKey(type: ObjectIdentifier(T.self), id: AnyHashable(value.id))).inserted else { return }
    storeMissing(in: value)
    core.prepare()
    if let alias = value as? any NamedContent {
      keepingStamps(except: nil) { alias.restore(core) }
    } else {
      let node = table.nodeAwaiting(value.id)
      if !node.exists { core.graph.unexamined.insert(node) }
      let value = core.upToDate(value, of: node)
      keepingStamps(except: node) {
        _ = core.store(value, in: table, nil)
        core.settleShapes()
      }
    }
    storing.remove(UndoKey(type: ObjectIdentifier(T.self), id: AnyHashable(value.id)))
  }

  /// Stores the entities inside a value that are not stored any longer, so that what is inside of them is as it is now, too.
  private func storeMissing<T: Identifiable & Sendable>(in value: T) {
    func store<E: Identifiable & Sendable>(_ entity: E) {
      let table = core.graph.table(E.self)
      // One of those before may have contained it.
      if !isMissing(entity.id), table.find(entity.id)?.exists != true { self.store(entity, in: table) }
    }
    for entity in core.missingEntities(in: value) { store(entity) }
  }

  /// Runs a write, after which entities that it did not change have the stamps that they had: a value that contains them was
  /// written, and not they.
  private func keepingStamps(except target: Node?, _ write: () -> Void) {
    let start = StepBeginning(core.graph.journal)
    write()
    defer { start.end() }
    for (state, isWrite) in core.graph.journal.firstStates(since: start.position)
    where isWrite && state.node !== target {
      let node = state.node
      guard state.flags.contains(.exists), node.exists, !node.differs(from: state, core.graph) else { continue }
      node.stamp = state.stamp
    }
  }
}

/// An alias as it is stored, of any type that aliases name.
private protocol NamedContent {
  /// Lets the alias name what it names in this value.
  func restore(_ core: StoreCore)
}

extension EntityAlias: NamedContent {
  fileprivate func restore(_ core: StoreCore) {
    guard let content else { return }
    let table = core.graph.table(T.self)
    let target = table.find(content.id).flatMap { $0.exists ? $0 : nil } ?? core.store(content, in: table, nil)
    _ = core.point(aliasNamed: id, at: target, modifiedAt: nil)
  }
}

extension CollectionAlias: NamedContent {
  fileprivate func restore(_ core: StoreCore) {
    let node = core.alias(Self.self, named: id)
    guard let content = core.upToDate(self, of: node).content else { return }
    core.store(content, in: Self.self, aliasNamed: id, modifiedAt: nil)
  }
}

extension SetAlias: NamedContent {
  fileprivate func restore(_ core: StoreCore) {
    let node = core.alias(Self.self, named: id)
    guard let content = core.upToDate(self, of: node).content else { return }
    core.store(content, in: Self.self, aliasNamed: id, modifiedAt: nil)
  }
}
