// Applying the winners, children first.
extension Merge {
  func apply() {
    for i in occurrences.items.indices.reversed() {
      occurrences.items[i].borrowed.use { if $0.occurrence == Int32(truncatingIfNeeded: i) { apply(i, $0) } }
    }
    for i in occurrences.items.indices where occurrences.items[i].state.contains(.isNew) {
      // What is new and stands in nothing that was taken may have no reason to stay.
      occurrences.items[i].borrowed.use { if $0.parents.isEmpty { graph.unexamined.insert($0) } }
    }
  }

  private func apply(_ i: Int, _ node: Node) {
    if occurrences.items[i].state.contains(.isNew) {
      let pending = occurrences.items[i].pending
      if pending >= 0 { node.table.swapPending(pending, with: node) }
      node.stamp = firstStamp(stamp)
      logStored(node, stamp)
      adopt(i, node)
    } else if node === target || accept(node, stamp) {
      fillIn(i, node)
      let item = occurrences.items[i]
      if !node.table.isAggregate {
        // A value that cannot be compared counts as another one.
        guard !node.table.isEquatable || !node.table.isSame(.own(node), item.value) else { return }
        node.table.swapPending(item.pending, with: node)
        adopt(i, node)
      } else if isChanged(item, node) {
        adoptKept(i, node)
        node.table.swapPending(item.pending, with: node)
        adopt(i, node)
        visitFilled(i, node)
      }
    }
  }

  /// Makes the value, which the node has already, the entity's.
  private func adopt(_ i: Int, _ node: Node) {
    occurrences.items[i].state.insert(.isApplied)
    guard node.table.isAggregate else { return graph.didWrite(node) }
    let omitted = omittedRelations(of: node)
    node.children?.brief = nil
    adoptChildren(ofOccurrence: i)
    let change = briefChange(occurrences.items[i], node, omitted)
    graph.didWrite(node, isBriefChanged: change == .value)
    // Nobody is told of a value that equals the one that was told before.
    if change == .form { graph.invalidate(node, isNotifying: false) }
  }

  /// What others of a cycle show of an entity may have changed.
  private enum BriefChange {
    case none
    /// The values are equal, but leave out other relations.
    case form
    case value
  }

  /// Which relations the brief form of a node leaves out; `nil` if it has none.
  private func omittedRelations(of node: Node) -> [Bool]? {
    guard node.links?.component != nil, let children = node.children else { return nil }
    return children.ends.indices.map { node.omitsWhenBrief(relation: $0) }
  }

  /// How what others of the cycle show of a node is another than before, when `omitted` was left out.
  private func briefChange(_ item: Occurrence, _ node: Node, _ omitted: [Bool]?) -> BriefChange {
    guard let omitted, item.pending >= 0, node.table.isEquatable, let now = omittedRelations(of: node),
      node.table.haveSameBrief(.pending(item.pending), omitting: omitted, .own(node), omitting: now, graph)
    else { return .value }
    return now == omitted ? .none : .form
  }

  // MARK: Aggregates

  /// Whether a value is another than the one the node has, not counting what is inside the entities they contain.
  private func isChanged(_ item: Occurrence, _ node: Node) -> Bool {
    // The diff has found out.
    if base?.isStored ?? false { return true }
    guard node.table.isEquatable, let schema = item.schema, let children = node.children else { return true }
    if item.state.contains(.isOtherThanVisited), node.table.isSame(.own(node), item.value) { return false }
    let (edges, ends, _) = newChildren(of: item, node)
    guard children.isSameInAnyOrder(schema, edges, ends) else { return true }
    return !node.table.haveSameFields(item.value, .own(node), keeping: kept(item, schema), graph)
  }

  private func isAllKept(_ item: Occurrence, _ schema: AnySchema) -> Bool {
    guard item.firstRelation >= 0 else { return false }
    return schema.indices.allSatisfy { occurrences.relations[Int(item.firstRelation) + $0].isKept }
  }

  private func kept(_ item: Occurrence, _ schema: AnySchema) -> [Bool] {
    schema.indices.map { occurrences.relations[Int(item.firstRelation) + $0].isKept }
  }

  /// Puts the stored relations that stay into the new value.
  private func adoptKept(_ i: Int, _ node: Node) {
    let item = occurrences.items[i]
    guard let schema = item.schema, item.firstRelation >= 0 else { return }
    for k in schema.indices where occurrences.relations[Int(item.firstRelation) + k].isKept {
      if node.table.keep(relation: k, of: schema, from: node, in: item.pending) {
        occurrences.items[i].state.insert(.isOtherThanShown)
      }
    }
  }

  /// The children of a visited value, where relations end, and which ordinals are stale.
  private func newChildren(
    of item: Occurrence, _ node: Node
  ) -> (edges: ContiguousArray<ChildEdge>, ends: ContiguousArray<Int32>, stale: ContiguousArray<Int32>) {
    var edges: ContiguousArray<ChildEdge> = []
    var ends: ContiguousArray<Int32> = []
    var stale: ContiguousArray<Int32> = []
    guard let schema = item.schema, item.firstRelation >= 0 else { return (edges, ends, stale) }
    for k in schema.indices {
      let relation = occurrences.relations[Int(item.firstRelation) + k]
      if relation.isKept, let children = node.children {
        for ordinal in children.range(ofRelation: Int(relation.kept)) {
          if children.stale.contains(Int32(ordinal)) { stale.append(Int32(truncatingIfNeeded: edges.count)) }
          edges.append(ChildEdge(child: children.edges[ordinal].child))
        }
      } else {
        edges.reserveCapacity(edges.count + Int(relation.count))
        for i in Int(relation.first)..<Int(relation.first + relation.count) {
          if !showsPresent(i, in: node) { stale.append(Int32(truncatingIfNeeded: edges.count)) }
          edges.append(ChildEdge(child: occurrences.items[i].node))
        }
      }
      ends.append(Int32(truncatingIfNeeded: edges.count))
    }
    return (edges, ends, stale)
  }

  /// Makes the occurrences in a value the node's children.
  func adoptChildren(ofOccurrence i: Int) {
    let item = occurrences.items[i]
    let node = item.node
    guard let schema = item.schema else { return graph.removeChildren(of: node) }
    // Nothing that stands in it was changed.
    if node.children?.schema === schema, isAllKept(item, schema) { return }
    let (edges, ends, stale) = newChildren(of: item, node)
    if let children = node.children, children.isSame(schema, edges, ends) {
      children.stale.removeAll()
      node.flags.remove(.stale)
      graph.unmarkAll(children)
    } else {
      graph.setChildren(of: node, schema, edges, ends)
    }
    for ordinal in stale { graph.makeStale(node, ordinal) }
  }

  /// Whether the value in an occurrence, as it stands in the parent, is what the parent is to show.
  private func showsPresent(_ i: Int, in parent: Node) -> Bool {
    occurrences.items[i].borrowed.use { node in
      // In a cycle the parent shows a form made for it.
      if node.isStale || (node.table.isRecursive && parent.table.isRecursive) { return false }
      var last = i
      while occurrences.items[last].replacement >= 0 { last = Int(occurrences.items[last].replacement) }
      let state = occurrences.items[last].state
      if node.occurrence == Int32(truncatingIfNeeded: last) {
        return state.contains(.isApplied) && !state.contains(.isOtherThanShown)
      }
      return node.occurrence < 0 && state.contains(.showsPresent)
    }
  }
}
