extension Engine {
  /// An entity's value changed: its ancestors show something old, and those who observe it or them are to be told.
  @usableFromInline func changed(_ node: Node) {
    writeCount &+= 1
    node.flags.insert(.written)
    if isFed { written.append(node) }
    showChange(of: node)
  }

  /// Marks what is above an entity that is another than it was, also when it only went back.
  @usableFromInline func showChange(of node: Node) {
    if !node.subscribers.isEmpty { addCandidate(node) }
    if !node.flags.contains(.marked), !node.parents.isEmpty { markAncestors(of: node) }
  }

  /// Marks what is above a node, as far up as it is not marked already: the second change of an unread entity is cheap.
  @usableFromInline func markAncestors(of start: Node) {
    start.flags.insert(.marked)
    var next: NodeRef? = NodeRef(node: start)
    while let reference = next {
      reference.node.parents.forEach { parent, ordinal in
        parent.children?.dirty.insert(ordinal)
        parent.flags.insert(.dirty)
        // Also if it was dirty: a value that is just being written may show something old without having changed.
        if !parent.subscribers.isEmpty { addCandidate(parent) }
        if !parent.flags.contains(.marked), !parent.parents.isEmpty {
          parent.flags.insert(.marked)
          markStack.append(NodeRef(node: parent))
        }
      }
      next = markStack.popLast()
    }
  }

  @usableFromInline func addCandidate(_ node: Node) {
    guard !node.flags.contains(.candidate) else { return }
    node.flags.insert(.candidate)
    candidates.append(NodeRef(node: node))
  }

  /// One occurrence in a node's value is known to be old.
  @usableFromInline func showsOld(_ node: Node, _ ordinal: Int32) {
    node.children?.dirty.insert(ordinal)
    node.flags.insert(.dirty)
  }

  // MARK: Edges

  /// Replaces all occurrences below a node. The new edges are clean.
  @usableFromInline func setChildren(
    of node: Node, schema: AnySchema, nodes: ContiguousArray<NodeRef>, ends: ContiguousArray<Int32>
  ) {
    removeChildren(of: node)
    node.flags.insert(.restructured)
    var edges = ContiguousArray<ChildEdge>()
    edges.reserveCapacity(nodes.count)
    let table = node.tableID
    for i in nodes.indices {
      nodes[i].with { child in
        let backIndex = child.parents.append(node, ordinal: Int32(truncatingIfNeeded: i))
        edges.append(ChildEdge(reference: nodes[i], backIndex: backIndex))
        child.flags.remove(.marked)
        if lastLink.child != child.tableID || lastLink.parent != table { link(node.table, to: child.table) }
        if child.holders == 0, child.withTable({ $0.isRecursive }), child.keeper == nil {
          // A node without children cannot be above its parent.
          if child.children == nil, child !== node { child.keeper = node } else { suspect(child) }
        }
      }
    }
    node.children = ChildList(schema: schema, edges: edges, ends: ends)
  }

  @usableFromInline func removeChildren(of node: Node) {
    guard let children = node.children else { return }
    for i in children.edges.indices {
      // Read anew each time: a removal may move another of these edges.
      let edge = children.edges[i]
      edge.reference.with { child in
        child.parents.remove(at: edge.backIndex)
        if child.keeper === node { child.keeper = nil }
        if child.holders == 0 { suspect(child) }
      }
    }
    node.children = nil
    node.flags.remove(.dirty)
    node.flags.insert(.restructured)
  }

  // MARK: Types

  /// Notes that one type occurs in another, and finds out anew which types can contain themselves.
  @usableFromInline func link(_ parent: AnyTable, to child: AnyTable) {
    lastLink = (ObjectIdentifier(parent), ObjectIdentifier(child))
    guard !childTables[ObjectIdentifier(parent), default: []].contains(where: { $0 === child }) else { return }
    childTables[ObjectIdentifier(parent), default: []].append(child)
    for table in tables.values where !table.isRecursive && tablesBelow(table).contains(where: { $0 === table }) {
      table.isRecursive = true
      // Until now nobody had to know by whom they live.
      for node in table.allNodes() where node.holders == 0 { suspect(node) }
    }
    for table in tables.values {
      table.reachesRecursion = table.isRecursive || tablesBelow(table).contains(where: \.isRecursive)
    }
  }

  @usableFromInline func tablesBelow(_ table: AnyTable) -> [AnyTable] {
    var found: [AnyTable] = []
    var stack = [table]
    while let next = stack.popLast() {
      for child in childTables[ObjectIdentifier(next)] ?? [] where !found.contains(where: { $0 === child }) {
        found.append(child)
        stack.append(child)
      }
    }
    return found
  }
}
