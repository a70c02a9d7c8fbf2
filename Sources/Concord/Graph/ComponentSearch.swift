/// Finds the cycles: the strongly connected components of the graph of occurrences (Tarjan, "Depth-first search and linear
/// graph algorithms", 1972; here without recursion, since chains may be long).
///
/// A component can change only where children changed. A new cycle leads through such a node, and so do the paths that a cycle
/// loses; so it is enough to search among these nodes and their ancestors. Cost: linear in those, and nothing where a change
/// cannot matter to any cycle.
final class ComponentSearch {
  /// What the search knows of a node with children.
  struct Mark {
    var isInRegion = false
    var index: Int32 = -1
    var low: Int32 = 0
    var isOnStack = false
    /// What the brief form left out before components changed, and what it leaves out since.
    var omittedBefore: [Bool]?
    var omittedNow: [Bool]?
  }

  private let graph: Graph
  private var counter: Int32 = 0
  private var stack: ContiguousArray<Node> = []
  /// Nodes that are found to be in another component.
  private var changes: ContiguousArray<(node: Node, component: Component?)> = []

  init(graph: Graph) { self.graph = graph }

  /// Brings the components up to date with what changed.
  func resolve() {
    guard !graph.restructured.isEmpty else { return }
    let region = ancestors(of: graph.restructured.takeAll())
    counter = 0
    for node in region where node.children?.search.index == -1 { search(from: node) }
    apply()
    for node in region { node.children?.search = Mark() }
    stack.shrink(beyond: 1_024)
  }

  /// The nodes that changed and may be in a cycle, and all above them.
  private func ancestors(of changed: ContiguousArray<Node>) -> ContiguousArray<Node> {
    var region: ContiguousArray<Node> = []
    func add(_ node: Node) {
      guard let children = node.children, !children.search.isInRegion else { return }
      children.search.isInRegion = true
      region.append(node)
    }
    for node in changed {
      if node.children == nil {
        guard node.links?.component != nil else { continue }
        set(nil, for: node)
        // Those that were in a cycle with it may be in another one now, or in none.
        for edge in node.parents where edge.parent.table.isRecursive { add(edge.parent) }
      } else if !node.parents.isEmpty || node.links?.component != nil {
        add(node)
      }
    }
    var next = 0
    while next < region.count {
      for edge in region[next].parents where edge.parent.table.isRecursive { add(edge.parent) }
      next += 1
    }
    return region
  }

  private struct Frame {
    let node: Node
    let children: ChildList
    var next = 0
    var hasOwnEdge = false
  }

  private func search(from root: Node) {
    guard let children = root.children else { return }
    var frames: ContiguousArray<Frame> = [open(root, children)]
    while let last = frames.indices.last {
      let frame = frames[last]
      if frame.next < frame.children.edges.count {
        frames[last].next += 1
        let child = frame.children.edges[frame.next].child
        if child === frame.node { frames[last].hasOwnEdge = true }
        guard let below = child.children, below.search.isInRegion else { continue }
        if below.search.index == -1 {
          frames.append(open(child, below))
        } else if below.search.isOnStack {
          frame.children.search.low = min(frame.children.search.low, below.search.index)
        }
      } else {
        frames.removeLast()
        let mark = frame.children.search
        if let parent = frames.last?.children { parent.search.low = min(parent.search.low, mark.low) }
        if mark.low == mark.index { close(frame) }
      }
    }
  }

  private func open(_ node: Node, _ children: ChildList) -> Frame {
    children.search.index = counter
    children.search.low = counter
    children.search.isOnStack = true
    counter += 1
    stack.append(node)
    return Frame(node: node, children: children)
  }

  /// All nodes of a component are on the stack, the frame's lowest.
  private func close(_ frame: Frame) {
    var members: ContiguousArray<Node> = []
    while let node = stack.popLast() {
      node.children?.search.isOnStack = false
      members.append(node)
      if node === frame.node { break }
    }
    guard members.count > 1 || frame.hasOwnEdge else { return set(nil, for: frame.node) }
    if let known = members[0].links?.component, known.count == members.count,
      members.allSatisfy({ $0.links?.component === known })
    {
      return
    }
    let component = Component(count: members.count)
    for node in members { set(component, for: node) }
  }

  private func set(_ component: Component?, for node: Node) {
    if node.links?.component !== component { changes.append((node, component)) }
  }

  // MARK: Applying what was found

  private func apply() {
    guard !changes.isEmpty else { return }
    var changed: ContiguousArray<(node: Node, component: Component?)> = []
    swap(&changed, &changes)
    // Which children each showed brief.
    var brief: ContiguousArray<[Bool]> = []
    for (node, _) in changed {
      node.children?.search.omittedBefore = node.omissions
      brief.append((node.children?.edges ?? []).map { node.isInSameCycle(as: $0.child) })
    }
    for (node, component) in changed {
      graph.journal.willRefresh(node)
      let links = node.ownLinks
      links.component = component
    }
    for (node, _) in changed { node.children?.search.omittedNow = node.omissions }
    for (index, change) in changed.enumerated() { update(change.node, showedBrief: brief[index]) }
  }

  /// What the node shows of others in its cycle may be another form now; only then does it show something old.
  private func update(_ node: Node, showedBrief: [Bool]) {
    node.flags.subtract([.invalidatedParents, .invalidatedCycle])
    node.parents.unmarkAll()
    guard let children = node.children else { return }
    let omitted = children.search.omittedNow ?? []
    var (isChanged, isBriefChanged) = (false, false)
    for (ordinal, edge) in children.edges.enumerated() {
      let mark = edge.child.children?.search
      let before = showedBrief[ordinal] ? mark?.omittedBefore ?? edge.child.omissions : []
      let now = node.isInSameCycle(as: edge.child) ? mark?.omittedNow ?? edge.child.omissions : []
      guard before != now else { continue }
      graph.makeStale(node, Int32(truncatingIfNeeded: ordinal))
      isChanged = true
      if omitted.isEmpty || !omitted[children.relation(of: Int32(truncatingIfNeeded: ordinal))] {
        isBriefChanged = true
      }
    }
    if isChanged { graph.invalidate(node, isBriefChanged: isBriefChanged) }
  }
}
