// What nodes show of their children may be another form, once components differ: whole, or brief without other relations.
extension ComponentSearch {
  /// Nodes that show something old, and whether other nodes of their cycles do, too.
  private typealias Others = [ObjectIdentifier: (node: Node, isBriefChanged: Bool)]

  /// Marks what shows something old because nodes are in other components.
  func showOtherForms() {
    if relabelled.isEmpty { return }
    var nodes: ContiguousArray<Node> = []
    swap(&nodes, &relabelled)
    let moved = ContiguousArray(nodes.lazy.filter { $0.formerComponent !== $0.links?.component })
    for node in moved {
      node.flags.subtract(.invalidated)
      node.parents.unmarkAll()
    }
    var others: Others = [:]
    for node in moved { compareForm(of: node, isMoved: true, &others) }
    // Their brief forms may leave out other relations, though they are in the same component as before.
    for node in staying(above: moved) { compareForm(of: node, isMoved: false, &others) }
    for node in nodes { node.withLinks { ($0.former, $0.isRelabelled) = (nil, false) } }
    for (node, isBriefChanged) in others.values { graph.invalidate(node, isBriefChanged: isBriefChanged) }
  }

  /// The parents that are in the component that a node came to or left, and have been all along.
  private func staying(above moved: ContiguousArray<Node>) -> ContiguousArray<Node> {
    var found: ContiguousArray<Node> = []
    let search = nextSearch()
    for node in moved {
      for edge in node.parents {
        guard let component = edge.parent.links?.component, component === edge.parent.formerComponent,
          component === node.formerComponent || component === node.links?.component,
          let children = edge.parent.children, children.search.fromAbove != search
        else { continue }
        children.search.fromAbove = search
        found.append(edge.parent)
      }
    }
    return found
  }

  /// Compares what parents showed of a node with what they are to show.
  private func compareForm(of node: Node, isMoved: Bool, _ others: inout Others) {
    let (before, now) = (formerOmissions(of: node), node.omissions)
    if isMoved || before != now {
      for edge in node.parents where edge.parent.table.isRecursive {
        compareForm(of: node, before, now, in: edge.parent, edge.ordinal, &others)
      }
    }
    // What is inside of one that moved is shown in another form, though nothing else changed for it.
    guard isMoved, let edges = node.children?.edges else { return }
    for (ordinal, edge) in edges.enumerated() where edge.child.table.isRecursive {
      let (before, now) = (formerOmissions(of: edge.child), edge.child.omissions)
      compareForm(of: edge.child, before, now, in: node, Int32(truncatingIfNeeded: ordinal), &others)
    }
  }

  private func compareForm(
    of node: Node, _ before: [Bool], _ now: [Bool], in parent: Node, _ ordinal: Int32, _ others: inout Others
  ) {
    let former = node.formerComponent
    let wasInside = former != nil && former === parent.formerComponent
    guard (wasInside ? before : []) != (parent.isInSameCycle(as: node) ? now : []) else { return }
    graph.journal.willRefresh(parent)
    graph.journal.committedState(of: parent)?.showsOtherForms = true
    graph.makeStale(parent, ordinal)
    let isBriefChanged = !parent.omitsWhenBrief(ordinal: ordinal)
    if isBriefChanged || others[ObjectIdentifier(parent)] == nil {
      others[ObjectIdentifier(parent)] = (parent, isBriefChanged)
    }
  }

  /// Returns which relations the brief form left out; empty if it left out none.
  private func formerOmissions(of node: Node) -> [Bool] {
    guard let former = node.formerComponent, let children = node.children else { return [] }
    let omitted = children.ends.indices.map { k in
      children.canOmit(k, of: node)
        && children.range(ofRelation: k).contains { children.edges[$0].child.formerComponent === former }
    }
    return omitted.contains(true) ? omitted : []
  }
}
