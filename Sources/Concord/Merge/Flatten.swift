// Flattening a value into the list of its occurrences.
extension Merge {
  /// Visits the contents of the outermost occurrences, level by level, without recursion. Equal values of one entity on one
  /// level are visited once.
  func flatten() {
    var level = 0..<occurrences.items.count
    while !level.isEmpty {
      skipRepeated(level)
      for i in level where isOpen(i) { visitInside(i) }
      level = level.upperBound..<occurrences.items.count
    }
  }

  /// Closes the occurrences of one level that need not be visited, since an equal one is.
  func skipRepeated(_ level: Range<Int>) { for i in level { replaceEarlier(than: i) } }

  func isOpen(_ i: Int) -> Bool {
    occurrences.items[i].replacement < 0 && !occurrences.items[i].state.contains(.isClosed)
  }

  /// Skips redundant visits: of equal values on the same level only the last is visited, and none that was visited on an
  /// outer level, since outer values win.
  private func replaceEarlier(than i: Int) {
    // Flat entities are handled when the winners are picked.
    if occurrences.items[i].state.contains(.isFlat) { return }
    let node = occurrences.items[i].node
    var j = node.occurrence
    occurrences.items[i].earlier = j
    node.occurrence = Int32(truncatingIfNeeded: i)
    guard j >= 0, !occurrences.items[i].state.contains(.isClosed) else { return }
    let item = occurrences.items[i]
    while j >= 0 {
      let other = occurrences.items[Int(j)]
      if other.replacement < 0, other.base == item.base || haveSameBase(other, item),
        !other.state.contains(.isClosed), node.table.haveSameBits(other.value, item.value)
      {
        if other.level < item.level {
          if base == nil { occurrences.items[i].state.insert(.isClosed) }
        } else {
          occurrences.items[Int(j)].replacement = Int32(truncatingIfNeeded: i)
          // The later occurrence takes over the state of the earlier one.
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
    let table = occurrences.items[i].node.table
    guard let schema = table.schema(of: occurrences.items[i].value) else { return }
    occurrences.setSchema(schema, of: i)
    occurrences.items[i].firstRelation = Int32(truncatingIfNeeded: occurrences.relations.count)
    let item = occurrences.items[i]
    if table.refusesSelf(schema) { log.append(.refused(.relationToItself), item.node) }
    occurrences.parent = Int32(truncatingIfNeeded: i)
    occurrences.level = item.level + 1
    let comparison = comparison(of: item, schema)
    for k in schema.indices {
      let first = occurrences.items.count
      let kept = keptRelation(k, of: i, item, schema, comparison)
      if kept == nil {
        visitor.purpose = .merge
        table.visit(item.value, relation: k, of: schema, visitor)
        visitor.purpose = .identify
      }
      let count = occurrences.items.count - first
      occurrences.relations.append(
        VisitedRelation(
          first: Int32(truncatingIfNeeded: first), count: Int32(truncatingIfNeeded: count),
          kept: Int32(truncatingIfNeeded: kept ?? -1)))
      if count > 0, base != nil { compare(first..<first + count, with: comparison, relation: k, of: item) }
    }
    if base != nil { decide(i, schema, comparison) }
  }

  /// Returns the index of the stored relation that is kept, because the value omits it, or a closure did not change it. In a
  /// value with other relations it may have another index.
  private func keptRelation(
    _ k: Int, of i: Int, _ item: Occurrence, _ schema: AnySchema, _ comparison: Comparison?
  ) -> Int? {
    let table = item.node.table
    let stored = item.state.contains(.isNew) ? nil : item.node.children.flatMap { schema.relation(k, in: $0.schema) }
    guard let stored else {
      // The store has no such relation, so an omitted collection is just empty.
      if schema.canOmit[k] != .never, table.forgetOmission(in: item.value, relation: k, of: schema) {
        occurrences.items[i].state.insert(.isOtherThanShown)
      }
      return nil
    }
    if isLeftOut(k, stored: stored, in: item.value, of: item, schema) { return stored }
    if isMissing(k, of: item, schema) { return stored }
    guard let comparison, schema.relation(k, in: comparison.schema) != nil else { return nil }
    if comparison.isSameEntity, base?.isOnlyEdits ?? false,
      table.isIdentical(item.value, .pending(item.base), relation: k, of: schema)
    {
      return stored
    }
    return refusesHiddenEdit(of: k, stored: stored, item, schema) ? stored : nil
  }

  /// Marks the relations of an incoming value that the store omitted.
  func leftOutRelations(of item: Occurrence) -> [Bool] {
    guard !item.state.contains(.isNew), let present = item.node.children?.schema,
      let schema = item.node.table.schema(of: item.value)
    else { return [] }
    return schema.indices.map { k in
      schema.relation(k, in: present).map { isLeftOut(k, stored: $0, in: item.value, of: item, schema) } ?? false
    }
  }

  /// Whether a relation of an incoming or received value is one that the store omitted.
  func isLeftOut(
    _ k: Int, stored: Int, in value: ValueReference, of item: Occurrence, _ schema: AnySchema
  ) -> Bool {
    if schema.canOmit[k] == .never { return false }
    return switch item.node.table.omission(in: value, relation: k, of: schema) {
    // A property observer may have replaced the omitted collection by another empty one.
    case .none: schema.canOmit[k] == .depends && isAbsentInBrief(k, stored: stored, in: value, of: item, schema)
    case .omitted: true
    case .absent: isAbsentInBrief(k, stored: stored, in: value, of: item, schema)
    }
  }

  /// Whether the brief form of an entity, inside another one of its cycle, shows the same absence in a relation.
  private func isAbsentInBrief(
    _ k: Int, stored: Int, in value: ValueReference, of item: Occurrence, _ schema: AnySchema
  ) -> Bool {
    isInsideOwnCycle(item) && item.node.omitsWhenBrief(relation: stored)
      && (schema.canOmit[k] == .always
        || item.node.table.isSameAsBrief(value, relation: k, of: schema, in: item.node))
  }

  func isInsideOwnCycle(_ item: Occurrence) -> Bool {
    item.parent >= 0 && occurrences.items[Int(item.parent)].node.isInSameCycle(as: item.node)
  }
}
