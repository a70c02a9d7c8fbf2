/// Which nodes a transaction really changed, in the end.
struct ChangedNodes {
  private var nodes: Set<ObjectIdentifier> = []
  private var cycleToo: Set<ObjectIdentifier> = []

  /// Compares what was written with what it was before, and adds all that shows a difference.
  init(graph: Graph) {
    var stack: [(node: Node, isBriefChanged: Bool)] = []
    for state in graph.journal.writtenStates where state.node.differs(from: state, graph) {
      nodes.insert(ObjectIdentifier(state.node))
      cycleToo.insert(ObjectIdentifier(state.node))
      stack.append((state.node, true))
    }
    while let (node, isBriefChanged) = stack.popLast() {
      for edge in node.parents {
        let isInside = edge.parent.isInSameCycle(as: node)
        if isInside && !isBriefChanged { continue }
        let changesBrief = !(isInside && edge.parent.omitsWhenBrief(ordinal: edge.ordinal))
        let isNew = nodes.insert(ObjectIdentifier(edge.parent)).inserted
        let isNewBrief = changesBrief && cycleToo.insert(ObjectIdentifier(edge.parent)).inserted
        if isNew || isNewBrief { stack.append((edge.parent, changesBrief)) }
      }
    }
  }

  func contains(_ node: Node) -> Bool { nodes.contains(ObjectIdentifier(node)) }
}

extension Node {
  /// Whether an observer of the entity itself sees another state than the saved one.
  func differs(from state: SavedState, _ graph: Graph) -> Bool {
    guard exists == state.flags.contains(.exists) else { return true }
    guard exists else { return false }
    if cyclic?.component !== state.component { return true }
    guard graph.journal.isWritten(self) else { return false }
    guard table.isEquatable else { return flags.contains(.written) }
    if let list = state.children?.list, list !== children {
      guard let children, children.isSameInAnyOrder(list.schema, list.nodes, list.ends) else { return true }
    } else if state.children == nil, children?.edges.isEmpty == false {
      return true
    }
    return table.differs(self, from: state, graph)
  }
}
