// The comparison of a value, with all it contains, with what the store has.
extension Merge {
  /// Whether each collected occurrence, and what it contains, has the same fields and the same entities inside as the stored entity.
  /// So it does not matter which of several values of one entity would win.
  func isAllUnchanged(since base: (Node) -> SavedState?) -> Bool {
    var level = 0..<occurrences.items.count
    while !level.isEmpty {
      skipRepeated(level)
      for i in level where isOpen(i) || occurrences.items[i].state.contains(.isFlat) {
        let node = occurrences.items[i].node
        // A value that is not `Equatable` counts as changed.
        guard node.table.isEquatable, isUnchanged(i, node, since: base(node)) else { return false }
      }
      level = level.upperBound..<occurrences.items.count
    }
    return true
  }

  private func isUnchanged(_ i: Int, _ node: Node, since base: SavedState?) -> Bool {
    guard base?.flags.contains(.exists) ?? node.exists, base.map({ hasSameShape(node, as: $0) }) ?? true else {
      return false
    }
    let children = base == nil ? node.children : base?.children?.list
    let value = occurrences.items[i].value
    guard let kept = keptRelations(of: i, node, children) else { return false }
    if let base { return node.table.hasSameFields(value, as: base, keeping: kept, graph) }
    return node.table.haveSameFields(value, .own(node), of: nil, keeping: kept, graph)
  }

  /// Whether a node is in the same cycle as in a saved state, so that its present shape tells what its brief form omitted then.
  private func hasSameShape(_ node: Node, as base: SavedState) -> Bool {
    !node.table.isRecursive
      || node.children === base.children?.list && node.links?.component === base.component
  }

  /// Collects the entities in the relations of a value. Returns which relations are kept, because the value omits them; `nil` if
  /// the entities in the other relations are not those of `children`.
  private func keptRelations(of i: Int, _ node: Node, _ children: ChildList?) -> [Bool]? {
    let item = occurrences.items[i]
    guard let schema = node.table.schema(of: item.value) else { return children == nil ? [] : nil }
    guard let children, children.schema === schema else { return nil }
    occurrences.parent = Int32(truncatingIfNeeded: i)
    occurrences.level = item.level + 1
    var kept: [Bool] = []
    for k in schema.indices {
      kept.append(omits(k, item, node, schema))
      if kept[k] { continue }
      let first = occurrences.items.count
      collect { node.table.visit(item.value, relation: k, of: schema, visitor) }
      guard hasSameEntities(first..<occurrences.items.count, in: k, of: schema, children) else { return nil }
    }
    return kept
  }

  /// Whether storing a value keeps a stored relation, because the value omits it. Where only trying tells, it counts as changed.
  private func omits(_ k: Int, _ item: Occurrence, _ node: Node, _ schema: AnySchema) -> Bool {
    guard schema.canOmit[k] != .never else { return false }
    return switch node.table.omission(in: item.value, relation: k, of: schema) {
    case .omitted: true
    case .absent: schema.canOmit[k] == .always && isInsideOwnCycle(item) && node.omitsWhenBrief(relation: k)
    case .none: false
    }
  }

  /// Whether collected occurrences are of the entities in a relation, in any order where comparing the values tells whether the order
  /// is the same.
  private func hasSameEntities(_ found: Range<Int>, in k: Int, of schema: AnySchema, _ children: ChildList) -> Bool {
    let range = children.range(ofRelation: k)
    guard found.count == range.count else { return false }
    if zip(found, range).allSatisfy({ occurrences.items[$0].node === children.edges[$1].child }) { return true }
    return schema.orders[k] != .elements
      && Set(found.map { ObjectIdentifier(occurrences.items[$0].node) })
        == Set(range.map { ObjectIdentifier(children.edges[$0].child) })
  }
}
