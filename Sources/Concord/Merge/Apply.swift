// Applying the winners, children first.
extension Merge {
  func apply() {
    for i in occurrences.items.indices.reversed() {
      occurrences.items[i].borrowed.use { if $0.occurrence == Int32(truncatingIfNeeded: i) { apply(i, $0) } }
    }
    for i in occurrences.items.indices where occurrences.items[i].state.contains(.isNew) {
      // A new entity that is in no stored value may have no holder.
      occurrences.items[i].borrowed.use { if $0.parents.isEmpty { graph.unexamined.insert($0) } }
    }
  }

  private func apply(_ i: Int, _ node: Node) {
    if occurrences.items[i].state.contains(.isNew) {
      let pending = occurrences.items[i].pending
      if pending >= 0 { node.table.swapPending(pending, with: node) }
      node.stamp = stamp.first
      didStamp(node, stamp)
      adopt(i, node)
    } else if node === target || accept(node, stamp) {
      fillIn(i, node)
      let item = occurrences.items[i]
      if !node.table.isAggregate {
        // A value that is not `Equatable` counts as changed.
        if node.table.isEquatable, node.table.isSame(.own(node), item.value) {
          if node.table.haveSameBits(.own(node), item.value) { occurrences.items[i].state.insert(.showsPresent) }
          return
        }
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

  /// Makes a value that the node already has the entity's.
  private func adopt(_ i: Int, _ node: Node) {
    occurrences.items[i].state.insert(.isApplied)
    guard node.table.isAggregate else { return graph.didWrite(node) }
    let omitted = omittedRelations(of: node)
    node.children?.brief = nil
    adoptChildren(ofOccurrence: i)
    let change = briefChange(occurrences.items[i], node, omitted)
    graph.didWrite(node, isBriefChanged: change == .value)
    if change == .form { graph.invalidate(node, .needless) }
  }

  /// A change in the brief form of an entity, which the other entities of its cycle show.
  private enum BriefChange {
    case none
    /// The brief form leaves out other relations, and equals the former one.
    case form
    case value
  }

  /// Returns the relations that the brief form of a node omits; `nil` if it has no brief form.
  private func omittedRelations(of node: Node) -> [Bool]? {
    guard node.links?.component != nil, let children = node.children else { return nil }
    return children.ends.indices.map { node.omitsWhenBrief(relation: $0) }
  }

  /// Compares the brief form of a node with the former one, which left out the `omitted` relations.
  private func briefChange(_ item: Occurrence, _ node: Node, _ omitted: [Bool]?) -> BriefChange {
    guard let omitted, item.pending >= 0, node.table.isEquatable, let now = omittedRelations(of: node),
      node.table.haveSameBrief(.pending(item.pending), omitting: omitted, .own(node), omitting: now, graph)
    else { return .value }
    return now == omitted ? .none : .form
  }

  // MARK: Aggregates

  /// Whether a value differs from the node's, without comparing the contents of entities inside them.
  private func isChanged(_ item: Occurrence, _ node: Node) -> Bool {
    // The diff has compared them.
    if base?.isStored ?? false { return true }
    guard node.table.isEquatable, let schema = item.schema, let children = node.children else { return true }
    if item.state.contains(.isOtherThanVisited), node.table.isSame(.own(node), item.value) { return false }
    if !hasSameChildren(item, children) {
      let (edges, ends) = newChildren(of: item, node)
      guard children.isSameInAnyOrder(schema, edges, ends) else { return true }
    }
    // Fast path: usually all relations contain identical values, so that the values can be compared as they are.
    if let isSame = node.table.isSameBesideIdentical(item.value, .own(node), schema) { return !isSame }
    return !node.table.haveSameFields(item.value, .own(node), of: nil, keeping: kept(item, schema), graph)
  }

  /// Whether a visited value contains the same entities as the node's, in the same order. Usually it does, so that no
  /// lists of children need be made.
  private func hasSameChildren(_ item: Occurrence, _ children: ChildList) -> Bool {
    guard let schema = item.schema, item.firstRelation >= 0, children.schema === schema else { return false }
    for k in schema.indices {
      let relation = occurrences.relations[Int(item.firstRelation) + k]
      if relation.isKept {
        guard Int(relation.kept) == k else { return false }
        continue
      }
      let range = children.range(ofRelation: k)
      guard range.count == Int(relation.count) else { return false }
      var i = Int(relation.first)
      for ordinal in range {
        guard occurrences.items[i].borrowed.use({ $0 === children.edges[ordinal].child }) else { return false }
        i += 1
      }
    }
    return true
  }

  private func isAllKept(_ item: Occurrence, _ schema: AnySchema) -> Bool {
    guard item.firstRelation >= 0 else { return false }
    return schema.indices.allSatisfy { occurrences.relations[Int(item.firstRelation) + $0].isKept }
  }

  private func kept(_ item: Occurrence, _ schema: AnySchema) -> [Bool] {
    schema.indices.map { occurrences.relations[Int(item.firstRelation) + $0].isKept }
  }

  /// Copies the stored relations that are kept into the new value.
  private func adoptKept(_ i: Int, _ node: Node) {
    let item = occurrences.items[i]
    guard let schema = item.schema, item.firstRelation >= 0 else { return }
    for k in schema.indices where occurrences.relations[Int(item.firstRelation) + k].isKept {
      if node.table.keep(relation: k, of: schema, from: node, in: item.pending) {
        occurrences.items[i].state.insert(.isOtherThanShown)
      }
    }
  }

  /// Returns the children of a visited value, and the end of each relation.
  private func newChildren(
    of item: Occurrence, _ node: Node
  ) -> (edges: ContiguousArray<ChildEdge>, ends: ContiguousArray<Int32>) {
    var edges: ContiguousArray<ChildEdge> = []
    guard let schema = item.schema, item.firstRelation >= 0 else { return (edges, []) }
    let ends = newEnds(of: item, schema, node)
    edges.reserveCapacity(Int(ends.last ?? 0))
    for k in schema.indices {
      let relation = occurrences.relations[Int(item.firstRelation) + k]
      if relation.isKept, let children = node.children {
        for ordinal in children.range(ofRelation: Int(relation.kept)) {
          edges.append(ChildEdge(child: children.edges[ordinal].child))
        }
      } else {
        for i in Int(relation.first)..<Int(relation.first + relation.count) {
          edges.append(ChildEdge(child: occurrences.items[i].node))
        }
      }
    }
    return (edges, ends)
  }

  /// Returns the ends of the relations of a visited value: those of the value before it, if they are the same.
  private func newEnds(of item: Occurrence, _ schema: AnySchema, _ node: Node) -> ContiguousArray<Int32> {
    func forEachEnd(_ body: (Int, Int32) -> Void) {
      var end = 0
      for k in schema.indices {
        let relation = occurrences.relations[Int(item.firstRelation) + k]
        if relation.isKept, let children = node.children {
          end += children.range(ofRelation: Int(relation.kept)).count
        } else {
          end += Int(relation.count)
        }
        body(k, Int32(truncatingIfNeeded: end))
      }
    }
    var isSame = schema.lastEnds.count == schema.indices.count
    forEachEnd { k, end in isSame = isSame && schema.lastEnds[k] == end }
    if isSame { return schema.lastEnds }
    var ends: ContiguousArray<Int32> = []
    ends.reserveCapacity(schema.indices.count)
    forEachEnd { _, end in ends.append(end) }
    schema.lastEnds = ends
    return ends
  }

  /// Returns the ordinals at which a visited value does not show its children's newest values.
  private func staleOrdinals(of item: Occurrence, _ schema: AnySchema, _ node: Node) -> ContiguousArray<Int32> {
    var stale: ContiguousArray<Int32> = []
    guard item.firstRelation >= 0 else { return stale }
    var ordinal: Int32 = 0
    for k in schema.indices {
      let relation = occurrences.relations[Int(item.firstRelation) + k]
      if relation.isKept, let children = node.children {
        for kept in children.range(ofRelation: Int(relation.kept)) {
          if children.stale.contains(Int32(kept)) { stale.append(ordinal) }
          ordinal += 1
        }
      } else {
        for i in Int(relation.first)..<Int(relation.first + relation.count) {
          if !showsPresent(i, in: node) { stale.append(ordinal) }
          ordinal += 1
        }
      }
    }
    return stale
  }

  /// Makes the entities inside a value the node's children.
  func adoptChildren(ofOccurrence i: Int) {
    let item = occurrences.items[i]
    let node = item.node
    guard let schema = item.schema else { return graph.removeChildren(of: node) }
    // All relations are kept.
    if node.children?.schema === schema, isAllKept(item, schema) { return }
    let stale = staleOrdinals(of: item, schema, node)
    if let children = node.children, hasSameChildren(item, children) {
      children.stale.removeAll()
      children.formerlyStale?.insertAll()
      node.flags.remove(.stale)
      graph.unmarkAll(children)
    } else {
      let (edges, ends) = newChildren(of: item, node)
      graph.setChildren(of: node, schema, edges, ends)
    }
    for ordinal in stale { graph.makeStale(node, ordinal) }
  }

  /// Whether the value of an occurrence, as the parent contains it, is the one that the parent is to show.
  private func showsPresent(_ i: Int, in parent: Node) -> Bool {
    occurrences.items[i].borrowed.use { node in
      // In a cycle the parent shows a form made for the cycle.
      if node.isStale || (node.table.isRecursive && parent.table.isRecursive) { return false }
      var last = i
      while occurrences.items[last].replacement >= 0 { last = Int(occurrences.items[last].replacement) }
      let state = occurrences.items[last].state
      if node.occurrence == Int32(truncatingIfNeeded: last) {
        // One that won without being newer still is what the node has, if nothing inside of it can have changed since.
        let isPresent = state.contains(.isApplied) || state.isSuperset(of: [.isFlat, .showsPresent])
        return isPresent && !state.contains(.isOtherThanShown)
      }
      return node.occurrence < 0 && state.contains(.showsPresent)
    }
  }
}
