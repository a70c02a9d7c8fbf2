/// The removal of entities from the values that contain them.
///
/// Entities are removed at once; their occurrences are removed when a value is read, or at the end of the transaction. So a
/// hundred entities removed from one collection make one new collection. Each place in `Relations` defines how it loses an
/// occurrence: an optional becomes `nil`, a collection becomes shorter.
final class Removal {
  private let graph: Graph
  private let refresher: Refresher
  private let visitor: Visitor
  private let reachability: Reachability
  private let log: LogBuffer
  /// The removed entities that values may still contain.
  @exclusivity(unchecked) private var removed: ContiguousArray<Node> = []
  /// The entities that the open transaction removed, whether or not they were stored again.
  @exclusivity(unchecked) private(set) var recent: ContiguousArray<Node> = []
  /// Whether occurrences are being removed.
  private var isFlushing = false
  /// The parents of removed entities.
  private let shrinking: NodeQueue
  /// The entities that were removed with all others. Notices for their observers are discarded when the transaction ends.
  @exclusivity(unchecked) private(set) var cleared: ContiguousArray<Node> = []
  /// A closure that handles aliases which lost their entity.
  var didLoseEntity: (Node) -> Void = { _ in }

  init(graph: Graph, refresher: Refresher, visitor: Visitor, reachability: Reachability, log: LogBuffer) {
    self.graph = graph
    self.refresher = refresher
    self.visitor = visitor
    self.reachability = reachability
    self.log = log
    shrinking = NodeQueue(.shrinking, graph.backlog)
  }

  var isPending: Bool { !removed.isEmpty }

  /// Removes an entity, and with it every parent that requires it.
  func remove(_ first: Node) {
    var (doomed, staying) = fate(of: first)
    if doomed.contains(where: showsEarlierRemoval) {
      for node in doomed { node.flags.remove(.removed) }
      flush()
      guard first.exists else { return }
      (doomed, staying) = fate(of: first)
    }
    for parent in staying { shrinking.insert(parent) }
    erase(doomed)
  }

  /// Returns the nodes that are removed with an entity, and the parents that only lose it.
  private func fate(of first: Node) -> (doomed: ContiguousArray<Node>, staying: ContiguousArray<Node>) {
    var doomed: ContiguousArray<Node> = [first]
    var staying: ContiguousArray<Node> = []
    first.flags.insert(.removed)
    var next = 0
    while next < doomed.count {
      for edge in doomed[next].parents where !edge.parent.flags.contains(.removed) {
        if canDoWithout(edge) {
          staying.append(edge.parent)
        } else {
          edge.parent.flags.insert(.removed)
          doomed.append(edge.parent)
        }
      }
      next += 1
    }
    return (doomed, staying)
  }

  /// Whether the last value of a removed node, which an observer keeps, contains entities that were removed earlier. If their
  /// occurrences were removed only later, the value would show them beside changes made after their removal.
  private func showsEarlierRemoval(_ node: Node) -> Bool {
    !isFlushing && node.flags.contains(.shrinking) && node.holders.count > 0
  }

  private func canDoWithout(_ edge: ParentEdge) -> Bool {
    guard let children = edge.parent.children else { return true }
    return children.schema.canAlwaysRemove[children.relation(of: edge.ordinal)]
      || edge.parent.table.removeOccurrences(from: edge.parent, cursor, keeping: true)
  }

  private var cursor: RemovalCursor { RemovalCursor(graph: graph, visitor: visitor) }

  private func erase(_ doomed: ContiguousArray<Node>) {
    // Observers keep the last value as it is now, before any occurrence is removed.
    for node in doomed where node.holders.count > 0 { refresher.refresh(node) }
    for node in doomed {
      graph.journal.willWrite(node)
      log.append(.released, node)
      node.flags.remove(.exists)
      node.stamp = -.infinity
      removed.append(node)
      recent.append(node)
      graph.backlog.add()
      graph.didWrite(node)
    }
  }

  /// Removes again entities that the transaction removed and that were stored again, because a computed relation that lost
  /// one entity showed another one that no relation had.
  func removeAgain(_ new: ContiguousArray<Node>) {
    guard hasRemoved, !new.isEmpty else { return }
    let recent = Set(self.recent.map { ObjectIdentifier($0) })
    for node in new where node.exists && recent.contains(ObjectIdentifier(node)) { remove(node) }
    flush()
  }

  var hasRemoved: Bool { !recent.isEmpty }

  /// Ends the transaction.
  func forgetRemoved() { if hasRemoved { recent = [] } }

  /// Removes the occurrences of removed entities from all values.
  func flush() {
    guard isPending else { return }
    let wasFlushing = isFlushing
    isFlushing = true
    defer { isFlushing = wasFlushing }
    while !shrinking.isEmpty { for parent in parentsThatStay() where parent.exists { shrink(parent) } }
    for node in removed {
      node.flags.remove(.removed)
      graph.removeChildren(of: node)
      graph.unexamined.insert(node)
    }
    removed.removeAll(keepingCapacity: removed.count < 1024)
  }

  /// Returns the parents that do not require the removed entities. The others are removed, too, before any occurrence is:
  /// their observers keep the last value, and not a partial one.
  private func parentsThatStay() -> ContiguousArray<Node> {
    var staying: ContiguousArray<Node> = []
    var rounds = 0
    while !shrinking.isEmpty {
      rounds += 1
      for parent in shrinking.takeAll() where parent.exists {
        if refuses(parent) { remove(parent) } else { staying.append(parent) }
      }
    }
    guard rounds > 1 else { return staying }
    var seen: Set<ObjectIdentifier> = []
    return staying.filter { seen.insert(ObjectIdentifier($0)).inserted }
  }

  /// Whether a setter refuses to remove an occurrence, which only trying can tell.
  private func refuses(_ parent: Node) -> Bool {
    guard let children = parent.children, !children.schema.isStored else { return false }
    return !parent.table.removeOccurrences(from: parent, cursor, keeping: true)
  }

  private func shrink(_ parent: Node) {
    graph.journal.willWrite(parent)
    guard let children = parent.children, parent.table.removeOccurrences(from: parent, cursor, keeping: false) else {
      // The setter refuses although it did not in the trial.
      return remove(parent)
    }
    visitAgain(parent, children)
    graph.didWrite(parent)
    didLoseEntity(parent)
  }

  /// Sets a node's children to those in its current value.
  private func visitAgain(_ parent: Node, _ old: ChildList) {
    let table = parent.table
    guard let schema = table.schema(of: .own(parent)) else { return graph.removeChildren(of: parent) }
    var edges: ContiguousArray<ChildEdge> = []
    var ends: ContiguousArray<Int32> = []
    var stale: ContiguousArray<Int32> = []
    var showsUnknown = false
    for k in schema.indices {
      let found = visitor.identify { table.visit(.own(parent), relation: k, of: schema, visitor) }
      let left = old.schema === schema ? old.range(ofRelation: k).filter { !isRemoved(old.edges[$0].child) } : []
      // If the value contains other entities than those that are left, it may be stale.
      let isRest = found.elementsEqual(left) { $0 === old.edges[$1].child }
      for (position, node) in found.enumerated() {
        guard let node else {
          showsUnknown = true
          continue
        }
        if !isRest || old.stale.contains(Int32(truncatingIfNeeded: left[position])) {
          stale.append(Int32(truncatingIfNeeded: edges.count))
        }
        edges.append(ChildEdge(child: node))
      }
      ends.append(Int32(truncatingIfNeeded: edges.count))
    }
    graph.setChildren(of: parent, schema, edges, ends)
    for ordinal in stale { graph.makeStale(parent, ordinal) }
    // A computed relation may show entities that are new to the store.
    if showsUnknown { refresher.didReshape(parent) }
  }

  private func isRemoved(_ node: Node) -> Bool { node.flags.contains(.removed) }

  /// Discards notices of states that were committed before everything was removed. An entity that was not there when the transaction
  /// began has none: its observers may yet have to be told that it went before.
  ///
  /// - Returns: whether everything was removed.
  func dropPending() -> Bool {
    guard !cleared.isEmpty else { return false }
    for node in cleared where graph.journal.existed(node) {
      for subscriber in node.subscribers { subscriber.dropPending() }
    }
    cleared = []
    return true
  }

  /// Forgets the removals after a savepoint, which were undone.
  func undo(to savepoint: WriteSavepoint) {
    cleared.removeSubrange(min(savepoint.clearedCount, cleared.count)...)
    recent.removeSubrange(min(savepoint.removedCount, recent.count)...)
  }

  /// Removes all entities, without removing occurrences: observers keep the last whole value.
  func removeAll() {
    flush()
    var doomed: ContiguousArray<Node> = []
    var groups: ContiguousArray<Node> = []
    for table in graph.allTables {
      for node in table.allNodes() where node.exists {
        if table.isInternal { groups.append(node) } else { doomed.append(node) }
      }
    }
    for node in doomed { node.flags.insert(.removed) }
    for group in groups where group.children?.edges.isEmpty == false { shrinking.insert(group) }
    erase(doomed)
    cleared += doomed
    flush()
  }
}
