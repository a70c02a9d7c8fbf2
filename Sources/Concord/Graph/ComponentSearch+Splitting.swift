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
    for (component, edges) in byComponent.values where !edges.allSatisfy({ isReached($0, in: component) }) {
      split(component, edges)
    }
  }

  /// Whether the child of an edge that went is still reached from its parent.
  private func isReached(_ edge: Edge, in component: Component) -> Bool {
    if edge.parent === edge.child { return component.count > 1 || contains(edge.parent, edge.parent) }
    guard let first = edge.parent.children, let last = edge.child.children else { return false }
    let search = nextSearch()
    var below = Frontier(edge.parent, .below)
    var above = Frontier(edge.child, .above)
    first.search.fromAbove = search
    last.search.fromBelow = search
    while true {
      guard let next = below.next() else { return false }
      if next.links?.component === component, let children = next.children, children.search.fromAbove != search {
        if children.search.fromBelow == search { return true }
        children.search.fromAbove = search
        below.nodes.append(next)
      }
      guard let next = above.next() else { return false }
      if next.links?.component === component, let children = next.children, children.search.fromBelow != search {
        if children.search.fromAbove == search { return true }
        children.search.fromBelow = search
        above.nodes.append(next)
      }
    }
  }

  private func contains(_ parent: Node, _ child: Node) -> Bool {
    parent.children?.edges.contains { $0.child === child } ?? false
  }

  /// Finds the components that are left of one.
  ///
  /// Each of its nodes is reached from an end of an edge that went: on a path from there it had been reached all along.
  private func split(_ component: Component, _ edges: ContiguousArray<Edge>) {
    var parts: [ContiguousArray<Node>] = []
    let search = nextSearch()
    var counter: Int32 = 0
    for edge in edges {
      for root in [edge.parent, edge.child] where root.links?.component === component {
        guard let children = root.children else {
          relabel(root, nil)
          continue
        }
        if children.search.fromAbove != search { find(from: root, in: component, search, &counter, &parts) }
      }
    }
    // Each part comes after those that lead to it.
    guard let largest = parts.indices.max(by: { parts[$0].count < parts[$1].count }) else {
      return order.remove(component.rank)
    }
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
    guard !isCycle(parts[largest]) else { return }
    order.insert(label(parts[largest]), after: component.rank)
    order.remove(component.rank)
  }

  private func isCycle(_ nodes: ContiguousArray<Node>) -> Bool { nodes.count > 1 || contains(nodes[0], nodes[0]) }

  /// Makes some nodes a component, or one that is in no cycle a node in none; gives their rank, which is in no order yet.
  private func label(_ nodes: ContiguousArray<Node>) -> Rank {
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

  /// The strongly connected components of what a component consisted of (Tarjan, "Depth-first search and linear graph algorithms",
  /// 1972; here without recursion, since chains may be long). Those that others lead to come first.
  private func find(
    from root: Node, in component: Component, _ search: Int, _ counter: inout Int32,
    _ parts: inout [ContiguousArray<Node>]
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
        guard child.links?.component === component, let below = child.children else { continue }
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
