// The three-way diff: a closure's result is compared, place by place, with the value that the closure received. Only
// differences are edits.
extension Merge {
  /// The base of a comparison.
  struct Comparison {
    let schema: AnySchema
    /// Whether the base is a value of the same entity, and not of one with another id.
    let isSameEntity: Bool
  }

  // MARK: What the closure was given

  /// Collects all values inside the one that a closure received.
  func collectBase(_ visit: () -> Void, _ empty: Base) {
    var base = empty
    occurrences.parent = -1
    occurrences.level = 0
    collect(visit)
    base.top = occurrences.items.first?.node
    var next = 0
    while next < occurrences.items.count {
      let item = occurrences.items[next]
      next += 1
      let table = item.node.table
      let known = base.values[ObjectIdentifier(item.node)] ?? []
      // An equal value contains the same.
      if known.contains(where: { table.haveSameBits(.pending($0), item.value) }) { continue }
      base.values[ObjectIdentifier(item.node), default: []].append(item.pending)
      guard let schema = table.schema(of: item.value) else { continue }
      for k in schema.indices {
        collect { table.visit(item.value, relation: k, of: schema, visitor) }
      }
    }
    occurrences.items.removeAll(keepingCapacity: true)
    self.base = base
  }

  /// Collects values without changing the store: an entity that is not stored gets an awaiting node.
  func collect(_ visit: () -> Void) {
    visitor.purpose = .collect
    visit()
    visitor.purpose = .identify
  }

  // MARK: Comparing

  func comparison(of item: Occurrence, _ schema: AnySchema) -> Comparison? {
    guard item.base >= 0, let schema = item.node.table.schema(of: .pending(item.base)) else { return nil }
    return Comparison(
      schema: schema, isSameEntity: item.node.table.haveSameID(.pending(item.base), item.value))
  }

  /// Compares the outermost value with the one that the closure received.
  func compareTop() {
    guard !occurrences.items.isEmpty else { return }
    let item = occurrences.items[0]
    let known = base?.values[ObjectIdentifier(item.node)] ?? []
    // The received value may contain the entity several times. The outermost value is compared, unless the closure changed
    // the id: then any value of the new entity.
    let forms = base?.top === item.node ? Array(known.prefix(1)) : known
    compare(0, with: forms.map { .pending($0) })
  }

  /// Compares the occurrences of one relation with the received values in their places.
  func compare(_ range: Range<Int>, with comparison: Comparison?, relation k: Int, of item: Occurrence) {
    guard let base else { return }
    // The contents of a value that the closure did not change need not be compared.
    if !base.isOnlyEdits, comparison == nil, !item.state.contains(.isEdit) { return }
    let given = comparison.map { placesGiven(k, of: item, $0, isStored: base.isStored) } ?? []
    let isOrdered = item.schema.map { $0.orders[k] != PlaceOrder.none } ?? false
    for i in range {
      let node = occurrences.items[i].node
      let position = i - range.lowerBound
      // In a collection without an order, an unchanged element keeps its place, unless the collection was rebuilt.
      let isInPlace = given.indices.contains(position) && given[position].node === node
      let here = isInPlace ? given[position] : isOrdered ? nil : given.first { $0.node === node }
      compare(i, with: forms(of: occurrences.items[i], here: here, in: item.node, base))
    }
  }

  /// Returns the nodes in a relation of the received value and, unless they are the store's, their values.
  private func placesGiven(
    _ k: Int, of item: Occurrence, _ comparison: Comparison, isStored: Bool
  ) -> [(node: Node, pending: Int32)] {
    let table = item.node.table
    guard let given = item.schema?.relation(k, in: comparison.schema) else { return [] }
    if isStored {
      return visitor.identify { table.visit(.pending(item.base), relation: given, of: comparison.schema, visitor) }
        .map { ($0 ?? item.node, -1) }
    }
    let start = occurrences.items.count
    collect { table.visit(.pending(item.base), relation: given, of: comparison.schema, visitor) }
    defer { occurrences.items.removeSubrange(start...) }
    return occurrences.items[start...].map { ($0.node, $0.pending) }
  }

  private enum Form {
    case pending(Int32)
    case whole
    case brief
  }

  /// Returns the values of an entity with which the one at a place is compared.
  private func forms(
    of item: Occurrence, here: (node: Node, pending: Int32)?, in parent: Node, _ base: Base
  ) -> [Form] {
    let node = item.node
    let stored: [Form] = node.links?.component == nil ? [.whole] : [.whole, .brief]
    if base.isStored {
      return here == nil ? stored : [parent.isInSameCycle(as: node) ? .brief : .whole]
    }
    if let here { return [.pending(here.pending)] }
    guard let known = base.values[ObjectIdentifier(node)] else { return base.isOnlyEdits ? stored : [] }
    // At a new place the closure may have written a value that it received or read from the store: neither is an edit.
    let given = known.map { Form.pending($0) }
    return base.isOnlyEdits && !isNew(item) ? stored + given : given
  }

  /// Whether the entity was new to the store when the call began. Then its node has the value of the first occurrence, with
  /// which no other is compared.
  private func isNew(_ item: Occurrence) -> Bool {
    if item.state.contains(.isNew) { newNodes.insert(ObjectIdentifier(item.node)) }
    return !newNodes.isEmpty && newNodes.contains(ObjectIdentifier(item.node))
  }

  /// Compares one occurrence with forms of its entity. If it equals one of them, it is no edit.
  private func compare(_ i: Int, with forms: [Form]) {
    let item = occurrences.items[i]
    let table = item.node.table
    let isKnownToGivenOnly = forms.contains { if case .pending = $0 { true } else { false } }
    if isNew(item), !isKnownToGivenOnly {
      occurrences.items[i].state.formUnion([.counts, .isEdit])
      return
    }
    var candidates: [Int32] = []
    for form in forms {
      switch form {
      case .whole:
        refresher.refresh(item.node)
        if table.isSame(.own(item.node), item.value) {
          let hasSameBits = table.haveSameBits(.own(item.node), item.value)
          return close(i, showsPresent: hasSameBits && item.node.links?.component == nil)
        }
        if table.isAggregate { candidates.append(occurrences.addPending(item.node, isBrief: false)) }
      case .brief:
        refresher.refresh(item.node)
        let brief = occurrences.addPending(item.node, isBrief: true)
        if table.isSameForm(.pending(brief), item.value) { return close(i, showsPresent: false) }
        candidates.append(brief)
      case .pending(let pending):
        // Values that are equal by `==` may still differ in the collections that they omit.
        let isSame =
          table.isAggregate
          ? table.haveSameBits(.pending(pending), item.value) : table.isSame(.pending(pending), item.value)
        if isSame { return close(i, showsPresent: false) }
        candidates.append(pending)
      }
    }
    guard table.isAggregate, let first = candidates.first else {
      occurrences.items[i].state.formUnion([.counts, .isEdit])
      return
    }
    occurrences.items[i].base =
      candidates.count == 1 ? first : mostAlike(candidates, to: occurrences.items[i]) ?? first
  }

  /// Returns the form from which a value was most likely made: an equal copy, a moved value, one changed only inside, or
  /// one with other entities in its relations.
  private func mostAlike(_ candidates: [Int32], to item: Occurrence) -> Int32? {
    let table = item.node.table
    func alike(keeping kept: [Bool]) -> [Int32] {
      candidates.filter { table.haveSameFields(item.value, .pending($0), of: nil, keeping: kept, graph) }
    }
    let moved = alike(keeping: leftOutRelations(of: item))
    if let same = moved.first(where: { table.isSame(.pending($0), item.value) }) ?? moved.first { return same }
    guard let schema = table.schema(of: item.value) else { return nil }
    return alike(keeping: schema.indices.map { _ in true }).first
  }

  /// Notes that an occurrence is no edit.
  private func close(_ i: Int, showsPresent: Bool) {
    if base?.isOnlyEdits ?? false { occurrences.items[i].state.insert(.isClosed) }
    if showsPresent { occurrences.items[i].state.insert(.showsPresent) }
  }

  /// Decides whether the entity itself was edited, or only entities inside it, after its contents have been visited.
  func decide(_ i: Int, _ schema: AnySchema, _ comparison: Comparison?) {
    guard let comparison else { return }
    let item = occurrences.items[i]
    if comparison.schema === schema, comparison.isSameEntity {
      let kept = schema.indices.map { isKept($0, of: item, schema) }
      if item.node.table.haveSameFields(item.value, .pending(item.base), of: schema, keeping: kept, graph) { return }
    }
    occurrences.items[i].state.formUnion([.counts, .isEdit])
  }

  private func isKept(_ k: Int, of item: Occurrence, _ schema: AnySchema) -> Bool {
    let relation = occurrences.relations[Int(item.firstRelation) + k]
    // If the store has no such relation, as of a new entity, an omitted collection is just empty.
    let isStored = item.node.children.flatMap { schema.relation(k, in: $0.schema) } != nil
    guard !relation.isKept, relation.count == 0, isNew(item) || !isStored else { return relation.isKept }
    if case .omitted = item.node.table.omission(in: .pending(item.base), relation: k, of: schema) { return true }
    return false
  }

  /// Whether a closure edited a relation that it was not shown. Such an edit is refused: the stored relation is kept.
  func refusesHiddenEdit(of k: Int, stored: Int, _ item: Occurrence, _ schema: AnySchema) -> Bool {
    let table = item.node.table
    guard isLeftOut(k, stored: stored, in: .pending(item.base), of: item, schema) else { return false }
    // The whole form in place of the brief form is no edit.
    if !table.isIdentical(item.value, .own(item.node), relation: k, of: schema) {
      log.append(.refused(.hiddenRelation), item.node)
    }
    return true
  }
}
