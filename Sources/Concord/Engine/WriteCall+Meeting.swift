extension WriteCall {
  /// Begins with the value the call is about; gives its node.
  @inlinable func start<T: Identifiable & Sendable>(with value: T, in table: Table<T>) -> Node {
    leaveParent()
    withUnsafePointer(to: value) { visit($0, in: table) }
    return nodes[0].node
  }

  /// Begins with a stored entity's value after and before a closure changed it; the write is known to be newer.
  @inlinable func start<T: Identifiable & Sendable>(
    with value: UnsafePointer<T>, given: UnsafePointer<T>, of node: EntityNode<T>
  ) {
    leaveParent()
    let table = node.typedTable
    target = node
    restoresLeftOut = true
    if usesGiven { readAllGivens(in: given, in: table) }
    // If the entity also stands inside itself, that may be what was really changed.
    let isChanged = !usesGiven || !hasSameFields(value, as: given, in: table)
    push(node, value, in: table, ordinal: 0, given: stage(given, in: table), claims: isChanged)
  }

  /// Begins with a value that a closure made of another entity's, by changing the id.
  @inlinable func start<T: Identifiable & Sendable>(with value: T, madeOf given: T, in table: Table<T>) -> Node {
    usesGiven = true
    leaveParent()
    withUnsafePointer(to: given) { readAllGivens(in: $0, in: table) }
    let node = start(with: value, in: table)
    // What is inside is compared place by place, as in any update.
    restoresLeftOut = true
    if !items.isEmpty {
      items[0].given = withUnsafePointer(to: given) { stage($0, in: table) }
      items[0].isMoved = false
    }
    return node
  }

  /// Begins with what a closure changed in a value that is stored as a whole afterwards; see `continueStoring`.
  @inlinable func start<T: Identifiable & Sendable>(
    inside value: UnsafePointer<T>, given: UnsafePointer<T>, in table: Table<T>
  ) {
    leaveParent()
    usesGiven = true
    readAllGivens(in: given, in: table)
    if let node = table.node(for: value.pointee.id), !hasSameFields(value, as: given, in: table) {
      // The outermost is changed itself.
      return push(node, value, in: table, ordinal: 0, given: stage(given, in: table))
    }
    guard let schema = table.schema(of: value) else { return }
    for relation in schema.relations where !relation.isIdentical(given, value) {
      readGivens(in: given, of: relation)
      relation.walk(value, self)
    }
  }

  @usableFromInline func leaveParent() {
    parent = nil
    nodes.removeAll(keepingCapacity: true)
    givens.removeAll(keepingCapacity: true)
  }

  // MARK: One entity

  @inlinable func meet<T: Identifiable & Sendable>(_ value: UnsafePointer<T>, in table: Table<T>) {
    let id = value.pointee.id
    let hash = Table<T>.hash(id)
    let ordinal = Int32(truncatingIfNeeded: nodes.count)
    let known = table.entry(for: id, hash: hash)
    if let known, known._withUnsafeGuaranteedRef({ $0.exists }) {
      nodes.append(NodeRef(known))
      known._withUnsafeGuaranteedRef { meetStored($0, value, in: table, ordinal: ordinal) }
    } else {
      let node = known?.takeUnretainedValue() ?? table.awaitedNode(for: id) ?? EntityNode(table: table, value: nil)
      nodes.append(NodeRef(node: node))
      meetNew(node, value, in: table, id: id, hash: hash, ordinal: ordinal)
    }
  }

  @inlinable @inline(__always) func meetStored<T: Identifiable & Sendable>(
    _ node: EntityNode<T>, _ value: UnsafePointer<T>, in table: Table<T>, ordinal: Int32
  ) {
    if node.callSerial == serial {
      meetAgain(node, value, in: table, ordinal: ordinal)
    } else if mode == .store {
      push(node, value, in: table, ordinal: ordinal)
    } else if let (given, isChanged, isMoved) = compare(node, value, in: table, ordinal: ordinal) {
      push(node, value, in: table, ordinal: ordinal, given: given, claims: isChanged, isMoved: isMoved)
    }
  }

  @inlinable func meetNew<T: Identifiable & Sendable>(
    _ node: EntityNode<T>, _ value: UnsafePointer<T>, in table: Table<T>, id: T.ID, hash: UInt32, ordinal: Int32
  ) {
    withEngine { $0.journal(node) }
    node.value = value.pointee
    if !node.flags.contains(.tabled) { table.insert(node, id: id, hash: hash) }
    node.flags.insert(.exists)
    node.flags.remove(.unborn)
    node.stamp = -.infinity
    if parent == nil { engine.suspect(node) }
    if !node.subscribers.isEmpty || withEngine({ $0.isFed }) { engine.changed(node) }
    if withEngine({ $0.isLogged }), !table.isInternal { engine.log { $0.didStore(T.self, id: id) } }
    if usesGiven, givenValues[ObjectIdentifier(node)] != nil {
      engine.suspect(node)
      // Not of the closure's making. Unless it changed it, which of its values wins is seen when the whole is stored.
      if let (given, isChanged, isMoved) = compare(node, value, in: table, ordinal: ordinal) {
        push(node, value, in: table, ordinal: ordinal, given: given, claims: isChanged, isMoved: isMoved)
      }
      return
    }
    node.stamp = withEngine { $0.firstStamp(stamp) }
    claim(node)
    items.append(
      Item(
        reference: NodeRef(node: node), staged: -1, parent: parent, ordinal: ordinal, isNew: true,
        hasInside: table.isAggregate))
  }

  @inlinable func meetAgain<T: Identifiable & Sendable>(
    _ node: EntityNode<T>, _ value: UnsafePointer<T>, in table: Table<T>, ordinal: Int32
  ) {
    var given: Int32 = -1
    var isMoved = false
    if mode == .update, !items[Int(node.callItem)].isNew {
      guard let (place, isChanged, isElsewhere) = compare(node, value, in: table, ordinal: ordinal) else { return }
      given = place
      isMoved = isElsewhere
      guard isChanged else {
        push(node, value, in: table, ordinal: ordinal, given: given, claims: false, isMoved: isMoved)
        return
      }
    }
    let winner = Int(node.callItem)
    let isOnLevel = winner >= levelStart
    // The value to compare with: on the same level the last one met, deeper down the last that lost.
    let rival = isOnLevel ? winner : Int(items[winner].loser)
    if rival >= levelStart, sameBits(items[rival], node, value, in: table),
      isMoved == items[rival].isMoved, sameGivens(items[rival].given, given, in: table)
    {
      var item = items[rival]
      items[rival].replacement = Int32(items.count)
      (item.parent, item.ordinal, item.loser) = (parent, ordinal, -1)
      items.append(item)
    } else if isOnLevel || (table.isAggregate && !isMetInside(winner, node, value, in: table)) {
      let isNew = isOnLevel && items[winner].isNew
      if isNew, items[winner].staged < 0, let first = node.value {
        // The node is about to hold another value, and what is inside this one still has to be met.
        items[winner].staged = withUnsafePointer(to: first) { stage($0, in: table) }
      }
      push(node, value, in: table, ordinal: ordinal, given: given, claims: false, isMoved: isMoved)
      items[items.count - 1].isNew = isNew
    } else {
      noteOld(ordinal)
      return
    }
    if isOnLevel { claim(node, Int32(items.count - 1)) } else { items[winner].loser = Int32(items.count - 1) }
  }

  /// Whether all that is inside the value has been met, in the value that won.
  @inlinable func isMetInside<T: Identifiable & Sendable>(
    _ winner: Int, _ node: EntityNode<T>, _ value: UnsafePointer<T>, in table: Table<T>
  ) -> Bool {
    winner >= storingStart && sameBits(items[winner], node, value, in: table)
  }

  /// Whether two places are to be compared with the same.
  @inlinable func sameGivens<T: Identifiable & Sendable>(_ a: Int32, _ b: Int32, in table: Table<T>) -> Bool {
    guard a != b else { return true }
    guard a >= 0, b >= 0 else { return false }
    return haveSameBits(UnsafePointer(table.staged[a]), UnsafePointer(table.staged[b]))
  }

  @inlinable func sameBits<T: Identifiable & Sendable>(
    _ item: Item, _ node: EntityNode<T>, _ value: UnsafePointer<T>, in table: Table<T>
  ) -> Bool {
    item.staged < 0 || item.isAdopted
      ? node.holdsBits(of: value) : haveSameBits(UnsafePointer(table.staged[item.staged]), value)
  }

  @inlinable func push<T: Identifiable & Sendable>(
    _ node: EntityNode<T>, _ value: UnsafePointer<T>, in table: Table<T>, ordinal: Int32, given: Int32 = -1,
    claims: Bool = true, isMoved: Bool = false
  ) {
    if claims { claim(node) }
    items.append(
      Item(
        reference: NodeRef(node: node), staged: stage(value, in: table), given: given, parent: parent, ordinal: ordinal,
        hasInside: table.isAggregate))
    items[items.count - 1].isMoved = isMoved
  }

  @usableFromInline func claim(_ node: Node, _ index: Int32? = nil) {
    node.callSerial = serial
    node.callItem = index ?? Int32(truncatingIfNeeded: items.count)
  }

  @inlinable func stage<T: Identifiable & Sendable>(_ value: UnsafePointer<T>, in table: Table<T>) -> Int32 {
    if table.staged.isEmpty { usedTables.append(Unmanaged.passUnretained(table)) }
    return table.staged.append(value)
  }

  // MARK: The inside of a value

  /// Meets what is inside an item's value, and makes it the entity's if the value was taken.
  @inlinable func walk<T: Identifiable & Sendable>(_ value: UnsafePointer<T>, of node: EntityNode<T>, item: Item) {
    let table = node.typedTable
    guard let schema = table.schema(of: value) else { return }
    let firstItem = items.count
    nodes.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
    old.removeAll(keepingCapacity: true)
    parent = item.isTaken ? item.reference : nil
    if item.given >= 0 {
      let given = UnsafePointer(table.staged[item.given])
      if walkChanges(in: value, since: given, schema, of: node, item: item) {
        // No relation was changed, so none is walked.
        if !item.keepsValue {
          adoptValue(by: node, item: item)
          rewrites.append(Rewrite(node: node, previous: item.previous, isRestructured: false))
        }
        return
      }
    } else {
      givens.removeAll(keepingCapacity: true)
      for relation in schema.relations {
        relation.walk(value, self)
        ends.append(Int32(truncatingIfNeeded: nodes.count))
      }
    }
    adopt(schema, by: node, item: item, firstItem: firstItem)
  }

  /// Meets what differs between two values; `true` if no relation does.
  @inlinable func walkChanges<T: Identifiable & Sendable>(
    in value: UnsafePointer<T>, since given: UnsafePointer<T>, _ schema: Schema<T>, of node: EntityNode<T>,
    item: Item
  ) -> Bool {
    // What was given is what the node has, unless cycles or other writes say otherwise.
    let known = !usesGiven && item.isTaken ? node.children : nil
    if let known, known.schema === schema, keepsRelations { return true }
    for (k, relation) in schema.relations.enumerated() {
      let isIdentical = relation.isIdentical(given, value)
      if isIdentical, let known, known.schema === schema {
        takeOver(known, relation: k)
      } else if item.restored & (1 << UInt64(k)) != 0, let stored = node.children {
        walkUnrestored(relation, since: given, of: node, item: item)
        // Not the closure's doing: what stands there is what is stored, and may show something old.
        let start = Int32(truncatingIfNeeded: nodes.count)
        takeOver(stored, relation: k)
        for ordinal in start..<Int32(truncatingIfNeeded: nodes.count) { noteOld(ordinal) }
      } else {
        walkChanges(in: value, since: given, relation, item: item)
      }
      ends.append(Int32(truncatingIfNeeded: nodes.count))
    }
    return false
  }

  @inlinable func walkChanges<T: Identifiable & Sendable>(
    in value: UnsafePointer<T>, since given: UnsafePointer<T>, _ relation: Relation<T>, item: Item
  ) {
    if item.isMoved {
      givens.removeAll(keepingCapacity: true)
    } else if usesGiven {
      readGivens(in: given, of: relation)
    }
    relation.walk(value, self)
  }

  /// What the closure changed inside a relation that was left out in part counts, though the relation is the stored one.
  @inlinable func walkUnrestored<T: Identifiable & Sendable>(
    _ relation: Relation<T>, since given: UnsafePointer<T>, of node: EntityNode<T>, item: Item
  ) {
    let start = nodes.count
    parent = nil
    let made = UnsafePointer(node.typedTable.staged[item.unrestored])
    walkChanges(in: made, since: given, relation, item: item)
    nodes.removeSubrange(start...)
    parent = item.reference
  }

  @inlinable func takeOver(_ children: ChildList, relation k: Int) {
    for i in (k == 0 ? 0 : children.ends[k - 1])..<children.ends[k] { nodes.append(children.edges[Int(i)].reference) }
  }

  @inlinable func adopt<T: Identifiable & Sendable>(
    _ schema: Schema<T>, by node: EntityNode<T>, item: Item, firstItem: Int
  ) {
    let isInOrder = hasSameOrder(node.children, schema)
    let isSame = isInOrder || schema.isSameStructure(nodes, ends, as: node.children)
    guard item.isTaken, !(item.keepsValue && isSame) else {
      // The occurrences are nobody's: what is new among them may have no reason to live.
      for i in firstItem..<items.count {
        items[i].parent = nil
        if items[i].isNew { engine.suspect(items[i].node) }
      }
      return
    }
    // If the value equals the one there is, and `==` does not look at relations that differ, it is written after all.
    if item.keepsValue { items[Int(node.callItem)].keepsValue = false }
    if item.staged >= 0 { adoptValue(by: node, item: item) }
    if !isInOrder {
      engine.setChildren(of: node, schema: schema, nodes: nodes, ends: ends)
    } else if item.given < 0 {
      node.children?.dirty.removeAll()
    }
    node.children?.adopted = serial
    for ordinal in old { engine.showsOld(node, ordinal) }
    if item.isNew { return }
    rewrites.append(
      Rewrite(node: node, previous: item.keepsValue ? -1 : item.previous, isRestructured: !isSame))
  }

  /// Makes the staged value the node's, and leaves what that had in its place.
  @inlinable func adoptValue<T: Identifiable & Sendable>(by node: EntityNode<T>, item: Item) {
    node.withTypedTable { node.swapValue(with: &$0.staged[item.staged].pointee) }
    items[Int(node.callItem)].isAdopted = true
  }

  @usableFromInline func hasSameOrder(_ children: ChildList?, _ schema: AnySchema) -> Bool {
    guard let children else { return nodes.isEmpty }
    guard children.schema === schema, children.edges.count == nodes.count, children.ends == ends else { return false }
    for i in nodes.indices where !nodes[i].isSame(as: children.edges[i].reference) { return false }
    return true
  }
}
