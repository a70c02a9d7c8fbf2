// Flattening: from a value to the list of its occurrences.
extension Merge {
  /// Visits what is inside the outermost occurrences, level by level. Nothing recurses, and equal values of one entity on one
  /// level are visited once.
  func flatten() {
    var level = 0..<occurrences.items.count
    while !level.isEmpty {
      for i in level { replaceEarlier(than: i) }
      for i in level where isOpen(i) { visitInside(i) }
      level = level.upperBound..<occurrences.items.count
    }
  }

  private func isOpen(_ i: Int) -> Bool {
    occurrences.items[i].replacement < 0 && !occurrences.items[i].state.contains(.isClosed)
  }

  /// An equal value on the same level need not be visited twice: the later one is. One that was visited further out need not
  /// be visited at all, since what is further out wins.
  private func replaceEarlier(than i: Int) {
    let item = occurrences.items[i]
    let node = item.node
    defer { node.occurrence = Int32(truncatingIfNeeded: i) }
    occurrences.items[i].earlier = node.occurrence
    guard node.table.isAggregate, !item.state.contains(.isClosed) else { return }
    var j = node.occurrence
    while j >= 0 {
      let other = occurrences.items[Int(j)]
      if other.replacement < 0, other.base == item.base || haveSameBase(other, item),
        !other.state.contains(.isClosed), node.table.haveSameBits(other.value, item.value)
      {
        if other.level < item.level {
          if base == nil { occurrences.items[i].state.insert(.isClosed) }
        } else {
          occurrences.items[Int(j)].replacement = Int32(truncatingIfNeeded: i)
          // It goes on as the node's own, if it was.
          occurrences.items[i].state.formUnion(other.state.intersection([.isNew, .counts, .isEdit]))
        }
        return
      }
      j = other.earlier
    }
  }

  private func haveSameBase(_ a: Occurrence, _ b: Occurrence) -> Bool {
    a.base >= 0 && b.base >= 0 && a.node.table.haveSameBits(.pending(a.base), .pending(b.base))
  }

  private func visitInside(_ i: Int) {
    let item = occurrences.items[i]
    let table = item.node.table
    guard let schema = table.schema(of: item.value) else { return }
    if table.refusesSelf(schema) { log.append(.refused(.relationToItself), item.node) }
    occurrences.items[i].schema = schema
    occurrences.items[i].firstRelation = Int32(truncatingIfNeeded: occurrences.relations.count)
    occurrences.parent = Int32(truncatingIfNeeded: i)
    occurrences.level = item.level + 1
    let comparison = comparison(of: item, schema)
    for k in schema.orders.indices {
      let first = occurrences.items.count
      let isKept = keepsStored(k, of: i, item, schema, comparison)
      if !isKept {
        visitor.purpose = .merge
        table.visit(item.value, relation: k, of: schema, visitor)
        visitor.purpose = .identify
      }
      let count = occurrences.items.count - first
      occurrences.relations.append(
        VisitedRelation(
          first: Int32(truncatingIfNeeded: first), count: Int32(truncatingIfNeeded: count), isKept: isKept))
      if count > 0, base != nil { compare(first..<first + count, with: comparison, relation: k, of: item) }
    }
    if base != nil { decide(i, schema, comparison) }
  }

  /// Whether the stored relation stays as it is: the value shows it as left out, or a closure did not change it.
  private func keepsStored(
    _ k: Int, of i: Int, _ item: Occurrence, _ schema: AnySchema, _ comparison: Comparison?
  ) -> Bool {
    let table = item.node.table
    let isStored = !item.state.contains(.isNew) && item.node.children?.schema === schema
    if isStored {
      if isLeftOut(k, of: item, schema) { return true }
    } else if table.forgetOmission(in: item.value, relation: k, of: schema) {
      // There is nothing that it could stand for: it is just empty.
      occurrences.items[i].state.insert(.isOtherThanShown)
    }
    guard let comparison, comparison.schema === schema else { return false }
    if isStored, comparison.isSameEntity, base?.isOnlyEdits ?? false,
      table.isIdentical(item.value, .pending(item.base), relation: k, of: schema)
    {
      return true
    }
    return isStored && refusesHiddenEdit(of: k, item, schema)
  }

  /// Whether a relation of an incoming value stands for one that the store left out.
  func isLeftOut(_ k: Int, of item: Occurrence, _ schema: AnySchema) -> Bool {
    switch item.node.table.omission(in: item.value, relation: k, of: schema) {
    // An observer of the property may have made another empty collection of the one that was left out.
    case .none: schema.canOmit[k] == .depends && isAbsentInBrief(k, of: item, schema)
    case .omitted: true
    case .absent: isAbsentInBrief(k, of: item, schema)
    }
  }

  /// Whether the brief form of an entity, which stands inside another of its cycle, shows the same in a relation.
  private func isAbsentInBrief(_ k: Int, of item: Occurrence, _ schema: AnySchema) -> Bool {
    isInsideOwnCycle(item) && item.node.omitsWhenBrief(relation: k)
      && (schema.canOmit[k] == .always
        || item.node.table.isSameAsBrief(item.value, relation: k, of: schema, in: item.node))
  }

  func isInsideOwnCycle(_ item: Occurrence) -> Bool {
    item.parent >= 0 && occurrences.items[Int(item.parent)].node.isInSameCycle(as: item.node)
  }
}
