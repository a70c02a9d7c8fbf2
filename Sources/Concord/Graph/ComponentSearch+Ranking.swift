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

  /// The strongly connected components of nodes that have a mark; those that others lead to come first.
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
