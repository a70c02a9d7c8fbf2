/// Keeps the cycles: the strongly connected components of the graph of occurrences, and a topological order of them.
///
/// The order is what makes it cheap: an edge that leads forward in it, or stays in a component, can close no cycle. For one that leads
/// back, those below its child and those above its parent are searched in turn, each within what lies between the two in the order,
/// until one of the searches is at its end. What it found is moved to the other side of the edge, and becomes one component with
/// it where the searches met (Haeupler, Kavitha, Mathew, Sen and Tarjan, "Incremental cycle detection, topological ordering, and
/// strong component maintenance", 2012; the search in turn is that of Alpern et al., 1990).
///
/// An edge that goes can change only the component that it was in. Once one went, each node of a component knows an edge on a path
/// from a root of it, and one on a path to that root: an edge that is none of these costs nothing, and where one of these goes,
/// another path is looked for (see `SpanningForest`). Only those that have none are searched whole (Tarjan, 1972). No method bounds
/// what fully dynamic components cost by what changes (Abboud and Vassilevska Williams, 2014): where the root itself goes, or its
/// paths are long, that is more.
///
/// Nodes that get a rank in one transaction get it together, in time linear in their edges (see `rank(_:)`). If edges among ranked nodes
/// cost more than to rank all anew, that is done: a transaction takes no longer than the size of the graph, however many edges it
/// changes.
///
/// Nodes that lead to nothing in a recursive type, or that nothing leads to, can be in no cycle and need no rank in the order.
final class ComponentSearch {
  /// The state of a node with children during a search.
  struct Mark {
    /// The last searches that reached it from above and from below.
    var fromAbove = 0
    var fromBelow = 0
    var index: Int32 = 0
    var low: Int32 = 0
    var isOnStack = false
  }

  let graph: Graph
  let order = TopologicalOrder()
  /// Nodes that are in another component than before, or may be.
  @exclusivity(unchecked) var relabelled: ContiguousArray<Node> = []
  /// Nodes whose own edges have yet to be looked at.
  @exclusivity(unchecked) var newlyRanked: ContiguousArray<Node> = []
  /// The number of edges that searches went along, which tests compare.
  @exclusivity(unchecked) var steps = 0
  var ranking = Ranking.cheaper
  private var lastSearch = 0
  private var lastRandom: UInt64 = 0

  init(graph: Graph) { self.graph = graph }

  /// Brings the components up to date with what changed.
  func resolve() {
    guard !graph.restructured.isEmpty || !relabelled.isEmpty else { return }
    let changes = graph.restructured.takeChanges()
    var removed: ContiguousArray<Edge> = []
    var added: ContiguousArray<Edge> = []
    for (node, former) in changes { compare(node, former, &removed, &added) }
    remove(removed)
    let unordered = graph.restructured.takeUnordered()
    // Edges to what led nowhere were not looked at; now paths may go through it.
    for (node, _) in changes where !node.isInner { forgetRank(of: node) }
    rank(ContiguousArray(changes.lazy.map(\.node)) + added.lazy.map(\.child) + unordered)
    switch ranking {
    case .oneByOne: _ = addOneByOne(added, unordered, atMostAll: false)
    case .anew: rankAll()
    case .cheaper: if !addOneByOne(added, unordered, atMostAll: true) { rankAll() }
    }
    // What is in no cycle shows each relation that it has.
    if !relabelled.isEmpty || changes.contains(where: { $0.node.links?.component != nil }) { graph.didRestructure() }
    showOtherForms()
  }

  /// The ways in which nodes that have a rank get another one, of which tests choose.
  enum Ranking {
    case oneByOne
    case anew
    case cheaper
  }

  /// Looks at edges one by one. Returns `false` once that has cost more than to rank all nodes anew, if it may.
  private func addOneByOne(
    _ added: ContiguousArray<Edge>, _ unordered: ContiguousArray<Node>, atMostAll: Bool
  ) -> Bool {
    let start = steps
    var limit = 8 * added.count + 256
    for edge in added {
      add(edge.parent, edge.child)
      guard atMostAll, steps - start > limit else { continue }
      if isMoreThanAll(steps - start) { return false }
      limit = 2 * (steps - start)
    }
    for node in unordered {
      for edge in node.children?.edges ?? [] { add(node, edge.child) }
      for edge in node.parents { add(edge.parent, node) }
    }
    while let node = newlyRanked.popLast() { for edge in node.children?.edges ?? [] { add(node, edge.child) } }
    return true
  }

  struct Edge {
    let parent: Node
    let child: Node
  }

  /// A number that no search has had.
  func nextSearch() -> Int {
    lastSearch += 1
    return lastSearch
  }

  /// A number that nobody chose, and yet the same each time (a linear congruential generator, with Knuth's factor).
  func random(below limit: Int) -> Int {
    lastRandom = lastRandom &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((lastRandom >> 33) % UInt64(limit))
  }

  /// Finds the edges that a node lost and gained. One that stands in two places may be among them although it stayed, which does no harm.
  private func compare(
    _ node: Node, _ former: ChildList?, _ removed: inout ContiguousArray<Edge>, _ added: inout ContiguousArray<Edge>
  ) {
    guard former !== node.children else { return }
    let (before, after) = (former?.edges ?? [], node.children?.edges ?? [])
    var start = 0
    while start < min(before.count, after.count), before[start].child === after[start].child { start += 1 }
    var (endBefore, endAfter) = (before.count, after.count)
    while endBefore > start, endAfter > start, before[endBefore - 1].child === after[endAfter - 1].child {
      (endBefore, endAfter) = (endBefore - 1, endAfter - 1)
    }
    let kept =
      endBefore == start || endAfter == start
      ? []
      : Set(before[start..<endBefore].map { ObjectIdentifier($0.child) })
        .intersection(after[start..<endAfter].map { ObjectIdentifier($0.child) })
    for edge in before[start..<endBefore] where !kept.contains(ObjectIdentifier(edge.child)) {
      if edge.child.isInSameCycle(as: node) { removed.append(Edge(parent: node, child: edge.child)) }
    }
    for edge in after[start..<endAfter] where !kept.contains(ObjectIdentifier(edge.child)) {
      added.append(Edge(parent: node, child: edge.child))
    }
  }

  // MARK: Labels

  /// Puts a node into a component, or takes it out of its own.
  func relabel(_ node: Node, _ component: Component?) {
    if node.links?.component === component { return }
    graph.journal.willRefresh(node)
    setComponent(of: node, component)
  }

  private func setComponent(of node: Node, _ component: Component?) {
    let links = node.ownLinks
    if !links.isRelabelled {
      (links.former, links.isRelabelled) = (links.component, true)
      relabelled.append(node)
    }
    if let former = links.component {
      former.count -= 1
      if former.isRoot(node) { former.root = nil }
    }
    component?.count += 1
    links.paths = RootPaths()
    links.component = component
    if component != nil { forgetRank(of: node) }
  }

  /// Undoes that: the node is in the component again in which it was, which may have been given up meanwhile.
  func restore(_ node: Node, _ component: Component?) {
    let former = node.links?.component
    guard former !== component else { return }
    setComponent(of: node, component)
    // What was reached through it, or was reached only now, is not known.
    former?.root = nil
    component?.root = nil
    if let former, former.count == 0 { order.remove(former.rank) }
    if let component, !component.rank.isRanked { order.append(component.rank) }
    graph.restructured.insertUnordered(node)
  }

  private func forgetRank(of node: Node) {
    guard let links = node.links, let rank = links.rank else { return }
    order.remove(rank)
    links.rank = nil
  }

  func setRank(of node: Node, _ rank: Rank) { node.ownLinks.rank = rank }
}
