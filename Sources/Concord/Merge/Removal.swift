/// Takes removed entities out of the values that hold them.
///
/// The entities are gone at once; their occurrences are taken out when somebody looks, or at the end of the transaction. So a
/// hundred entities removed from one collection make one new collection. How one place loses an occurrence, an optional that
/// becomes `nil` or a collection that gets shorter, is said by each place in `Relations`.
final class Removal {
  private let graph: Graph
  private let refresher: Refresher
  private let visitor: Visitor
  private let reachability: Reachability
  private let log: LogBuffer
  /// Removed, and perhaps still in values.
  @exclusivity(unchecked) private var removed: ContiguousArray<Node> = []
  /// Removed by the open transaction, whatever became of them since.
  private var recent: ContiguousArray<Node> = []
  /// Whether they are being taken out.
  private var isFlushing = false
  /// Parents of removed entities.
  private let shrinking: NodeQueue
  /// Removed with all others: what waits for their observers is dropped when the transaction ends.
  @exclusivity(unchecked) private(set) var cleared: ContiguousArray<Node> = []
  /// Is told of aliases that lost their entity.
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

  /// Removes an entity, and with it every parent that cannot do without.
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

  /// Who goes with an entity, and who loses it only.
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

  /// Whether the last value of a removed node, which an observer keeps, is to be made without what was removed before: if its
  /// occurrences were taken out only later, it would show those, beside changes that came after their removal.
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
    // Observers keep the last value as it is now, before any of it goes.
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

  /// Removes again those entities that the transaction removed and that came back, because a computed relation, when it lost one
  /// entity, showed another one that no relation had.
  func removeAgain(_ new: ContiguousArray<Node>) {
    guard hasRemoved, !new.isEmpty else { return }
    let recent = Set(self.recent.map { ObjectIdentifier($0) })
    for node in new where node.exists && recent.contains(ObjectIdentifier(node)) { remove(node) }
    flush()
  }

  var hasRemoved: Bool { !recent.isEmpty }

  /// The transaction has ended.
  func forgetRemoved() { if hasRemoved { recent = [] } }

  /// Takes the removed entities out of all values.
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

  /// Parents of removed entities that can do without. The others are removed, too, before anything is taken out of any: their
  /// observers keep the last value, and not what was left of it meanwhile.
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

  /// Whether a setter refuses in the end what it promised: only trying tells.
  private func refuses(_ parent: Node) -> Bool {
    guard let children = parent.children, !children.schema.isStored else { return false }
    return !parent.table.removeOccurrences(from: parent, cursor, keeping: true)
  }

  private func shrink(_ parent: Node) {
    graph.journal.willWrite(parent)
    guard let children = parent.children, parent.table.removeOccurrences(from: parent, cursor, keeping: false) else {
      // It refuses although it did not before.
      return remove(parent)
    }
    visitAgain(parent, children)
    graph.didWrite(parent)
    didLoseEntity(parent)
  }

  /// Gives the parent the children that its value has now.
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
      // Where anything else stands than what is left of before, it may show something old.
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
    // What a computed relation shows now may be new to the store.
    if showsUnknown { refresher.didReshape(parent) }
  }

  private func isRemoved(_ node: Node) -> Bool { node.flags.contains(.removed) }

  /// Drops the notices of what was committed before everything was removed.
  func dropPending() {
    guard !cleared.isEmpty else { return }
    for node in cleared { for subscriber in node.subscribers { subscriber.dropPending() } }
    cleared = []
  }

  /// Undoes the removals of all entities, but the first so many.
  func undoClearing(to count: Int) { cleared.removeSubrange(count...) }

  /// Removes all entities. Nothing is taken out of anything: who still observes an entity keeps its last value whole.
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
