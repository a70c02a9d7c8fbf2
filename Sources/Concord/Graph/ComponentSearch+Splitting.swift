// Edges that went: a component may fall apart.
extension ComponentSearch {
  /// Looks at components that lost edges inside.
  func remove(_ edges: ContiguousArray<Edge>) {
    if edges.isEmpty { return }
    var byComponent: [ObjectIdentifier: (component: Component, edges: ContiguousArray<Edge>)] = [:]
    for edge in edges {
      guard let component = edge.parent.links?.component else { continue }
      byComponent[ObjectIdentifier(component), default: (component, [])].edges.append(edge)
    }
    for (component, edges) in byComponent.values {
      // One by one, many might each go the same long ways.
      let isMuch = edges.count * 8 >= component.count
      let apart =
        component.root == nil || isMuch ? findPaths(in: component, edges) : restorePaths(in: component, edges)
      if !apart.isEmpty { split(component, apart) }
    }
  }

  // MARK: Paths from and to the root

  /// Finds other paths for nodes whose paths led over edges that went, and returns those for which there are none.
  private func restorePaths(in component: Component, _ edges: ContiguousArray<Edge>) -> ContiguousArray<Node> {
    var (from, to): (ContiguousArray<Node>, ContiguousArray<Node>) = ([], [])
    let (pathsFrom, pathsTo) = (RootForest(component, .fromRoot), RootForest(component, .toRoot))
    for edge in edges where edge.parent !== edge.child {
      let isFrom = pathsFrom.support(of: edge.child) === edge.parent
      let isTo = pathsTo.support(of: edge.parent) === edge.child
      // The same entity may stand in another place.
      guard isFrom || isTo, !contains(edge.parent, edge.child) else { continue }
      if isFrom { from.append(edge.child) }
      if isTo { to.append(edge.parent) }
    }
    var apart = ContiguousArray<Node>()
    if !from.isEmpty { apart += SupportSearch(pathsFrom, graph).restore(from) }
    if !to.isEmpty { apart += SupportSearch(pathsTo, graph).restore(to) }
    // A single node that contained itself.
    if component.count == 1, edges.contains(where: { !contains($0.parent, $0.child) }) { apart += [edges[0].parent] }
    return apart
  }

  /// Chooses a root, and returns the nodes that it does not reach, or from which it is not reached.
  private func findPaths(in component: Component, _ edges: ContiguousArray<Edge>) -> ContiguousArray<Node> {
    // Each node is reached from an end of an edge that went: on a path from there it had been reached all along.
    let mark = graph.nextMark()
    var nodes: ContiguousArray<Node> = []
    func add(_ node: Node) {
      guard node.links?.component === component, node.mark != mark else { return }
      node.mark = mark
      nodes.append(node)
    }
    for edge in edges {
      add(edge.parent)
      add(edge.child)
    }
    var next = 0
    while next < nodes.count {
      for edge in nodes[next].children?.edges ?? [] { add(edge.child) }
      next += 1
    }
    // Any, since nobody should know which one is dear to lose.
    let root = nodes[random(below: nodes.count)]
    component.root = Borrowed(root)
    return findPaths(RootForest(component, .fromRoot), nodes) + findPaths(RootForest(component, .toRoot), nodes)
      + (nodes.count == 1 && !contains(root, root) ? [root] : [])
  }

  private func findPaths(_ paths: RootForest, _ nodes: ContiguousArray<Node>) -> ContiguousArray<Node> {
    let mark = graph.nextMark()
    for node in nodes {
      paths.setSupport(of: node, nil)
      if !paths.isRoot(node) { node.mark = mark }
    }
    SupportSearch(paths, graph).attach(nodes, mark)
    return nodes.filter { $0.mark == mark }
  }

  /// Nodes came into a component, which is one with them.
  func addPaths(_ nodes: ContiguousArray<Node>, in component: Component) {
    guard component.root != nil else { return }
    addPaths(nodes, RootForest(component, .fromRoot))
    addPaths(nodes, RootForest(component, .toRoot))
  }

  private func addPaths(_ nodes: ContiguousArray<Node>, _ paths: RootForest) {
    let mark = graph.nextMark()
    for node in nodes { node.mark = mark }
    SupportSearch(paths, graph).attach(nodes, mark)
  }

  private func contains(_ parent: Node, _ child: Node) -> Bool {
    parent.children?.edges.contains { $0.child === child } ?? false
  }

  // MARK: What it falls into

  /// Makes other components of the nodes that are not connected with the root of one in both directions.
  private func split(_ component: Component, _ apart: ContiguousArray<Node>) {
    let mark = graph.nextMark()
    var apart = apart
    apart.removeAll { node in
      defer { node.mark = mark }
      return node.mark == mark
    }
    var found: [ContiguousArray<Node>] = []
    let search = nextSearch()
    var counter: Int32 = 0
    for node in apart {
      guard let children = node.children else {
        found.append([node])
        continue
      }
      if children.search.fromAbove != search { find(from: node, mark, search, &counter, &found) }
    }
    // Those that lead to the root come before what is left with it, all others after it.
    func leadsToRoot(_ nodes: ContiguousArray<Node>) -> Bool { nodes[0].links?.paths.to != nil }
    let rest = component.count - apart.count
    var parts = found.filter { !leadsToRoot($0) }
    let root = parts.count
    if rest > 0 { parts.append([]) }
    parts += found.filter(leadsToRoot)
    func size(_ i: Int) -> Int { rest > 0 && i == root ? rest : parts[i].count }
    guard let largest = parts.indices.max(by: { size($0) < size($1) }) else { return }
    if rest > 0, largest != root || rest == 1 { parts[root] = nodes(withRootOf: component, withoutMark: mark) }
    if largest != root || rest == 0 { component.root = nil }
    place(parts, largest, in: component, keepsLargest: rest > 1 && largest == root || isCycle(parts[largest]))
  }

  /// Gives each part but the largest a place beside it in the order, and makes a component of it. Each part comes after those
  /// that lead to it, and so the first one last.
  private func place(
    _ parts: [ContiguousArray<Node>], _ largest: Int, in component: Component, keepsLargest: Bool
  ) {
    var rank = component.rank
    for i in parts[..<largest].indices.reversed() {
      let next = label(parts[i])
      order.insert(next, after: rank)
      rank = next
    }
    rank = component.rank
    for i in parts[largest...].indices.dropFirst() {
      let next = label(parts[i])
      order.insert(next, before: rank)
      rank = next
    }
    if keepsLargest { return }
    order.insert(label(parts[largest]), after: component.rank)
    order.remove(component.rank)
  }

  private func nodes(withRootOf component: Component, withoutMark mark: Int) -> ContiguousArray<Node> {
    var found: ContiguousArray<Node> = []
    let search = graph.nextMark()
    func add(_ node: Node) {
      guard node.links?.component === component, node.mark != mark, node.mark != search else { return }
      node.mark = search
      found.append(node)
    }
    component.root?.use(add)
    var next = 0
    while next < found.count {
      for edge in found[next].children?.edges ?? [] { add(edge.child) }
      next += 1
    }
    return found
  }

  func isCycle(_ nodes: ContiguousArray<Node>) -> Bool { nodes.count > 1 || contains(nodes[0], nodes[0]) }

  /// Makes some nodes a component, or one that is in no cycle a node in none; gives their rank, which is in no order yet.
  func label(_ nodes: ContiguousArray<Node>) -> Rank {
    let component = isCycle(nodes) ? Component() : nil
    for node in nodes { relabel(node, component) }
    if let component { return component.rank }
    let rank = Rank()
    setRank(of: nodes[0], rank)
    return rank
  }

  private struct Frame {
    let node: Node
    let children: ChildList
    var next = 0
  }

  /// The strongly connected components of the nodes that have a mark (Tarjan, "Depth-first search and linear graph algorithms",
  /// 1972; here without recursion, since chains may be long). Those to which other components lead come first.
  func find(
    from root: Node, _ mark: Int, _ search: Int, _ counter: inout Int32, _ parts: inout [ContiguousArray<Node>]
  ) {
    var stack: ContiguousArray<Node> = []
    var frames: ContiguousArray<Frame> = []
    func open(_ node: Node, _ children: ChildList) {
      children.search.fromAbove = search
      (children.search.index, children.search.low, children.search.isOnStack) = (counter, counter, true)
      counter += 1
      stack.append(node)
      frames.append(Frame(node: node, children: children))
    }
    if let children = root.children { open(root, children) }
    while let last = frames.indices.last {
      let frame = frames[last]
      if frame.next < frame.children.edges.count {
        frames[last].next += 1
        let child = frame.children.edges[frame.next].child
        guard child.mark == mark, let below = child.children else { continue }
        if below.search.fromAbove != search {
          open(child, below)
        } else if below.search.isOnStack {
          frame.children.search.low = min(frame.children.search.low, below.search.index)
        }
      } else {
        frames.removeLast()
        let mark = frame.children.search
        if let parent = frames.last?.children { parent.search.low = min(parent.search.low, mark.low) }
        guard mark.low == mark.index else { continue }
        var part: ContiguousArray<Node> = []
        while let node = stack.popLast() {
          node.children?.search.isOnStack = false
          part.append(node)
          if node === frame.node { break }
        }
        parts.append(part)
      }
    }
  }
}
