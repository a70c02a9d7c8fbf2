// An edge that came: it may close a cycle.
extension ComponentSearch {
  func add(_ parent: Node, _ child: Node) {
    guard parent.table.isRecursive, child.table.isRecursive, parent.isInner, child.isInner else { return }
    let upper = rank(parent)
    let lower = rank(child)
    if parent === child { return join(parent, own: upper) }
    guard upper !== lower, upper.label > lower.label else { return }
    let search = nextSearch()
    var below = Frontier(child, .below)
    var above = Frontier(parent, .above)
    child.children?.search.fromAbove = search
    parent.children?.search.fromBelow = search
    while true {
      steps += 2
      guard let next = below.next() else { return finish(below, search, at: upper, from: parent) }
      below.reach(next, search, until: upper)
      guard let next = above.next() else { return finish(above, search, at: lower, from: child) }
      above.reach(next, search, until: lower)
    }
  }

  /// The rank of a node that leads on; given now if it has none. Then it was not reached from any that has one, and may come last.
  func rank(_ node: Node) -> Rank {
    if let rank = node.rank { return rank }
    let rank = Rank()
    setRank(of: node, rank)
    newlyRanked.append(node)
    if node.parents.isEmpty { order.prepend(rank) } else { order.append(rank) }
    return rank
  }

  /// Makes a node that contains itself a cycle.
  private func join(_ node: Node, own rank: Rank) {
    guard node.links?.component == nil else { return }
    let component = Component()
    order.insert(component.rank, after: rank)
    relabel(node, component)
  }

  /// One of the searches is at its end: what it found goes to the other side of `rank`, and what leads to it, too, becomes one
  /// component with it.
  private func finish(_ frontier: Frontier, _ search: Int, at rank: Rank, from node: Node) {
    let inside = frontier.leadingToEnd(search)
    let mark = nextSearch()
    var joined: ContiguousArray<Node> = []
    for member in inside { if let rank = member.rank, rank.take(mark) { joined.append(member) } }
    var moved: ContiguousArray<Rank> = []
    for member in frontier.nodes { if let rank = member.rank, rank.take(mark) { moved.append(rank) } }
    moved.sort { $0.label < $1.label }
    switch frontier.direction {
    case .below: for other in moved.reversed() { order.move(other, after: rank) }
    case .above: for other in moved { order.move(other, before: rank) }
    }
    if joined.isEmpty { return }
    joined.append(node)
    merge(joined, at: rank)
  }

  /// Makes one component of several, each of which is given by one of its nodes.
  private func merge(_ parts: ContiguousArray<Node>, at rank: Rank) {
    func size(_ node: Node) -> Int { node.links?.component?.count ?? 1 }
    guard let largest = parts.max(by: { size($0) < size($1) }) else { return }
    let component = largest.links?.component ?? Component()
    order.move(component.rank, after: rank)
    var added: ContiguousArray<Node> = []
    for part in parts where part.links?.component !== component {
      let former = part.links?.component
      let nodes = former.map { members(of: $0, from: part) } ?? [part]
      for node in nodes { relabel(node, component) }
      added += nodes
      if let former { order.remove(former.rank) }
    }
    addPaths(added, in: component)
  }

  private func members(of component: Component, from first: Node) -> ContiguousArray<Node> {
    let search = nextSearch()
    var frontier = Frontier(first, .below)
    first.children?.search.fromAbove = search
    while let next = frontier.next() {
      guard next.links?.component === component, let children = next.children, children.search.fromAbove != search
      else { continue }
      children.search.fromAbove = search
      frontier.nodes.append(next)
    }
    return frontier.nodes
  }
}

/// The nodes that a search has reached, and its progress from there: one edge at a time.
struct Frontier {
  enum Direction {
    case below
    case above
  }

  let direction: Direction
  var nodes: ContiguousArray<Node>
  /// Nodes with an edge to where the search ends.
  private var atEnd: ContiguousArray<Node> = []
  private var head = 0
  private var edge = 0

  init(_ node: Node, _ direction: Direction) {
    nodes = [node]
    self.direction = direction
  }

  /// The other end of the next edge; `nil` if there is none left.
  mutating func next() -> Node? {
    while head < nodes.count {
      let node = nodes[head]
      switch direction {
      case .below:
        if let edges = node.children?.edges, edge < edges.count {
          edge += 1
          return edges[edge - 1].child
        }
      case .above:
        if edge < node.parents.count {
          edge += 1
          return node.parents[edge - 1].parent
        }
      }
      (head, edge) = (head + 1, 0)
    }
    return nil
  }

  /// Goes on to a node, unless it lies beyond the rank where the search ends, or was reached before.
  mutating func reach(_ node: Node, _ search: Int, until end: Rank) {
    guard let children = node.children, node.table.isRecursive, let rank = node.rank else { return }
    if rank === end { return atEnd.append(nodes[head]) }
    switch direction {
    case .below:
      guard rank.label < end.label, children.search.fromAbove != search else { return }
      children.search.fromAbove = search
    case .above:
      guard rank.label > end.label, children.search.fromBelow != search else { return }
      children.search.fromBelow = search
    }
    nodes.append(node)
  }

  /// Of the nodes reached, those from which the rank is reached where the search ends.
  func leadingToEnd(_ search: Int) -> ContiguousArray<Node> {
    // Marked with the negative number, where the other search has its own.
    var found: ContiguousArray<Node> = []
    func add(_ node: Node) {
      guard let children = node.children else { return }
      switch direction {
      case .below:
        guard children.search.fromAbove == search, children.search.fromBelow != -search else { return }
        children.search.fromBelow = -search
      case .above:
        guard children.search.fromBelow == search, children.search.fromAbove != -search else { return }
        children.search.fromAbove = -search
      }
      found.append(node)
    }
    for node in atEnd { add(node) }
    var next = 0
    while next < found.count {
      switch direction {
      case .below: for edge in found[next].parents { add(edge.parent) }
      case .above: for edge in found[next].children?.edges ?? [] { add(edge.child) }
      }
      next += 1
    }
    return found
  }
}

extension Rank {
  /// Marks the position, and returns whether it did not have the mark yet.
  fileprivate func take(_ mark: Int) -> Bool {
    defer { self.mark = mark }
    return self.mark != mark
  }
}
