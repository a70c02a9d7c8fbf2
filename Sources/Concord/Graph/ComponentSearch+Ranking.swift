// Nodes that have no rank yet: those of one transaction get theirs together, in time linear in their edges. One by one, in
// whatever order they came, each might be moved past all before it.
extension ComponentSearch {
  /// Ranks nodes that lead on, and those without a rank that they lead to, in an order that is topological among them.
  ///
  /// What closes cycles among them is made components here (Tarjan, 1972). Those to which no node with a rank leads come first in the
  /// whole order, the others last: only edges from these to what had a rank before may lead back.
  func rank(_ seeds: ContiguousArray<Node>) {
    let mark = graph.nextMark()
    var nodes: ContiguousArray<Node> = []
    func add(_ node: Node) {
      guard node.mark != mark, node.table.isRecursive, node.isInner, node.rank == nil else { return }
      node.mark = mark
      nodes.append(node)
    }
    // Nothing leads back to one without parents: `rank(_:)` puts it before all others.
    for node in seeds where !node.parents.isEmpty { add(node) }
    if nodes.isEmpty { return }
    var next = 0
    var edges = 0
    while next < nodes.count {
      for edge in nodes[next].children?.edges ?? [] { add(edge.child) }
      edges += nodes[next].children?.edges.count ?? 0
      next += 1
    }
    steps += edges
    let parts = parts(of: nodes, mark)
    let isReached = findReached(parts, mark, edges)
    for i in parts.indices where !isReached[i] { order.prepend(label(parts[i])) }
    for i in parts.indices.reversed() where isReached[i] { order.append(label(parts[i])) }
    for part in parts.reversed() { newlyRanked += part }
  }

  /// The strongly connected components of nodes that have a mark; those to which other components lead come first.
  private func parts(of nodes: ContiguousArray<Node>, _ mark: Int) -> [ContiguousArray<Node>] {
    var found: [ContiguousArray<Node>] = []
    let search = nextSearch()
    var counter: Int32 = 0
    for node in nodes where node.children?.search.fromAbove != search {
      find(from: node, mark, search, &counter, &found)
    }
    return found
  }

  /// For each part, whether a node with a rank may lead to it.
  private func findReached(_ parts: [ContiguousArray<Node>], _ mark: Int, _ edges: Int) -> [Bool] {
    for (i, part) in parts.enumerated() {
      for node in part { node.children?.search.index = Int32(truncatingIfNeeded: i) }
    }
    var isReached = [Bool](repeating: false, count: parts.count)
    // Not more than in proportion to what is ranked: a node may have thousands of parents that are in no order.
    var left = 2 * edges + 16
    func isReachedFrom(_ parent: Node) -> Bool {
      left -= 1
      if left < 0 { return true }
      guard parent.mark == mark, let i = parent.children?.search.index else { return parent.rank != nil }
      return isReached[Int(i)]
    }
    for i in parts.indices.reversed() {
      isReached[i] = parts[i].contains { $0.parents.contains { isReachedFrom($0.parent) } }
    }
    return isReached
  }
}

// Ranking all nodes anew, where a transaction changed many edges among them.
extension ComponentSearch {
  private var tables: [AnyTable] { graph.allTables.filter(\.isRecursive) }

  /// Whether a number of steps is larger than those of ranking all nodes.
  func isMoreThanAll(_ steps: Int) -> Bool {
    var left = steps / 2
    for table in tables {
      for node in table.allNodes() {
        left -= 1 + (node.children?.edges.count ?? 0)
        if left < 0 { return false }
      }
    }
    return true
  }

  /// Finds all components, and puts them in order. Edges that went have been looked at: so each component is still one, or a part of a
  /// larger one.
  func rankAll() {
    let mark = graph.nextMark()
    var nodes: ContiguousArray<Node> = []
    for table in tables {
      for node in table.allNodes() where node.isInner {
        node.mark = mark
        nodes.append(node)
        steps += 1 + (node.children?.edges.count ?? 0)
      }
    }
    for part in parts(of: nodes, mark).reversed() {
      let rank = rank(ofPart: part)
      order.remove(rank)
      order.append(rank)
    }
    newlyRanked = []
  }

  /// Makes a component of nodes that are one, of which the largest one among them keeps its identity. Returns its rank.
  private func rank(ofPart part: ContiguousArray<Node>) -> Rank {
    guard isCycle(part) else {
      if part[0].links?.component == nil, let rank = part[0].rank { return rank }
      return label(part)
    }
    let largest = part.lazy.compactMap { $0.links?.component }.max { $0.count < $1.count }
    let component = largest ?? Component()
    for node in part where node.links?.component !== component {
      let former = node.links?.component
      relabel(node, component)
      // What came is on no path to and from the root.
      component.root = nil
      if let former, former.count == 0 { order.remove(former.rank) }
    }
    return component.rank
  }
}
