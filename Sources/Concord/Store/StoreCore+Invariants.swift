extension EntityStore {
  /// Returns the invariants that the store breaks, for its own tests. Waits for an open transaction.
  package func _checkInvariants() -> [String] { shared.inspect(token) { $0.brokenInvariants() } }

  /// Returns the numbers of stored entities and of nodes, for tests and benchmarks.
  package func _statistics() -> (entities: Int, nodes: Int) {
    shared.inspect(token) { core in
      let nodes = core.graph.allTables.filter { !$0.isInternal }.flatMap { $0.allNodes() }
      return (nodes.count(where: \.exists), nodes.count)
    }
  }

  /// Returns the number of places that are to be brought up to date when somebody looks, for tests of the work that writes make.
  package func _staleOccurrences() -> Int {
    shared.inspect(token) { core in
      core.graph.allTables.flatMap { $0.allNodes() }.reduce(0) { $0 + ($1.children?.stale.ordinals().count ?? 0) }
    }
  }

  /// Returns the greatest number of parents that a change of one entity has to mark, for tests of the work that writes make.
  package func _mostUnmarkedParents() -> Int {
    shared.inspect(token) { core in
      core.graph.allTables.flatMap { $0.allNodes() }.map(\.parents.unmarkedCount).max() ?? 0
    }
  }
}

extension StoreCore {
  fileprivate func brokenInvariants() -> [String] {
    if !turns.isOpen { commit() }
    return graph.allTables.flatMap { table in table.allNodes().flatMap { brokenInvariants(of: $0) } }
      + hubs.all.flatMap { $0.brokenInvariants() }
  }

  private func brokenInvariants(of node: Node) -> [String] {
    guard node !== feed.node else { return [] }
    var problems: [String] = []
    let edges = node.children?.edges ?? []
    for (ordinal, edge) in edges.enumerated() {
      let back = node.children.flatMap { _ in
        edge.child.parents.indices.contains(Int(edge.backIndex)) ? edge.child.parents[Int(edge.backIndex)] : nil
      }
      if back?.parent !== node || back?.ordinal != Int32(ordinal) {
        problems.append("edge \(ordinal) is not known below")
      }
      if !edge.child.exists { problems.append("child \(ordinal) does not exist") }
      let isStaleEdge = node.children?.stale.contains(Int32(ordinal)) ?? false
      if isStaleEdge, !node.isStale { problems.append("edge \(ordinal) is stale, the node is not") }
      let isInside = node.isInSameCycle(as: edge.child)
      if edge.child.isStale, !isInside, !isStaleEdge { problems.append("child \(ordinal) is stale, the edge is not") }
      if !isInside, edge.child.flags.contains(.invalidatedParents), !isStaleEdge {
        problems.append("child \(ordinal) believes that the edge is stale")
      }
      if edge.child.parents.isMarked(at: Int(edge.backIndex)), !isStaleEdge {
        problems.append("edge \(ordinal) is marked, and not stale")
      }
    }
    if node.subscribers.enumerated().contains(where: { $1.position != $0 }) {
      problems.append("a subscriber does not know its place")
    }
    if node.holders.count < 0 { problems.append("more holders ended than began") }
    if node.exists, node.holders.count == 0, node.parents.isEmpty { problems.append("nobody retains it") }
    if !node.exists, node.holders.count == 0 { problems.append("nobody waits for it") }
    if !node.exists, !edges.isEmpty { problems.append("it does not exist and has children") }
    if !node.flags.isDisjoint(with: [.notified, .unrefreshed, .unexamined, .removed, .shrinking, .visiting]) {
      problems.append("left over from a transaction: \(node.flags)")
    }
    if node.occurrence != -1 || node.journalIndex != -1 { problems.append("left over from a call") }
    if node.exists, node.holders.count == 0, node.table.isRecursive, !hasHolder(above: node) {
      problems.append("nobody above it is held")
    }
    if !knowsPaths(node) { problems.append("it has no path from or to the root of its cycle") }
    return problems.map { "\(node.table.id(of: node).map { "\($0)" } ?? "awaited"): \($0)" }
  }

  /// Whether a node refers to neighbours in its component as the next ones on paths from and to the root, if that has one.
  private func knowsPaths(_ node: Node) -> Bool {
    guard let links = node.links, let component = links.component, component.root != nil, !component.isRoot(node) else {
      return true
    }
    func isSupport(_ support: Borrowed<Node>?, among neighbours: some Sequence<Node>) -> Bool {
      support?.use { support in support.links?.component === component && neighbours.contains { $0 === support } }
        ?? false
    }
    return isSupport(links.paths.from, among: node.parents.lazy.map(\.parent))
      && isSupport(links.paths.to, among: (node.children?.edges ?? []).lazy.map(\.child))
  }

  private func hasHolder(above node: Node) -> Bool {
    var top = node
    for _ in 0..<100_000 {
      guard top.holders.count == 0, top.table.isRecursive, let retainer = top.links?.retainer else { break }
      guard top.parents.contains(where: { $0.parent === retainer }) else { return false }
      top = retainer
    }
    return top.holders.count > 0 || !top.table.isRecursive
  }
}
