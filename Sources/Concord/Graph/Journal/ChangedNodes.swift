/// The nodes whose values a transaction changed.
struct ChangedNodes {
  private var nodes: Set<ObjectIdentifier> = []
  private var cycleToo: Set<ObjectIdentifier> = []

  /// Compares the written nodes with their committed states, and adds their ancestors that show a difference.
  init(graph: Graph, view: CommittedView) {
    var stack: [(node: Node, isBriefChanged: Bool)] = []
    // Former parents of a child that lost it without being written: their computed relations changed with an entity inside
    // them.
    var former: [ObjectIdentifier: ContiguousArray<Node>] = [:]
    for state in graph.journal.writtenStates {
      let node = state.node
      let isWritten = node.differs(from: state, graph)
      if !isWritten, let list = state.children?.list, list !== node.children {
        let present = Set(node.children?.edges.map { ObjectIdentifier($0.child) } ?? [])
        for edge in list.edges where !present.contains(ObjectIdentifier(edge.child)) {
          former[ObjectIdentifier(edge.child), default: []].append(node)
        }
      }
      let formChange = isWritten ? view.briefChange(of: node) : view.formChange(of: node)
      if formChange == .none { continue }
      nodes.insert(ObjectIdentifier(node))
      if formChange == .whole { cycleToo.insert(ObjectIdentifier(node)) }
      stack.append((node, formChange == .whole))
    }
    while let (node, isBriefChanged) = stack.popLast() {
      for parent in former.isEmpty ? [] : former[ObjectIdentifier(node)] ?? [] {
        let isNew = nodes.insert(ObjectIdentifier(parent)).inserted
        let isNewBrief = cycleToo.insert(ObjectIdentifier(parent)).inserted
        if isNew || isNewBrief { stack.append((parent, true)) }
      }
      for edge in node.parents {
        let isInside = edge.parent.isInSameCycle(as: node)
        if isInside && !isBriefChanged { continue }
        let changesBrief = !edge.parent.omitsWhenBrief(ordinal: edge.ordinal)
        let isNew = nodes.insert(ObjectIdentifier(edge.parent)).inserted
        let isNewBrief = changesBrief && cycleToo.insert(ObjectIdentifier(edge.parent)).inserted
        if isNew || isNewBrief { stack.append((edge.parent, changesBrief)) }
      }
    }
  }

  func contains(_ node: Node) -> Bool { nodes.contains(ObjectIdentifier(node)) }
}

/// The relations in which a node shows a child in another form, because cycles changed.
enum FormChange {
  case none
  /// Only relations that the node's own brief form omits.
  case omitted
  /// Also relations in the node's brief form, which other nodes of its cycle show.
  case whole
}

extension Node {
  /// Whether the entity was stored or removed since a state was saved, or its own fields or relations changed.
  func differs(from state: SavedState, _ graph: Graph) -> Bool {
    guard exists == state.flags.contains(.exists) else { return true }
    guard exists else { return false }
    guard graph.journal.isWritten(self) else { return false }
    guard table.isEquatable else { return flags.contains(.written) }
    let list = state.children?.list
    // A node without a list counts as one with an empty list.
    if list !== children, list?.edges.isEmpty == false || children?.edges.isEmpty == false {
      guard let list, let children, children.isSameInAnyOrder(list.schema, list.edges, list.ends) else { return true }
    }
    return table.differs(self, from: state, graph)
  }
}
