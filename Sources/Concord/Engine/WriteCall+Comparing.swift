/// What a closure changed: its result is compared with what it was given, place by place.
extension WriteCall {
  /// For a value in what a closure made: `nil` if it is what the closure was given, and does not count; else the index of
  /// what it was given in this place (or -1), and whether the entity itself was changed or only something inside it.
  @inlinable func compare<T: Identifiable & Sendable>(
    _ node: EntityNode<T>, _ value: UnsafePointer<T>, in table: Table<T>, ordinal: Int32
  ) -> (given: Int32, isChanged: Bool, isMoved: Bool)? {
    if usesGiven, let known = givenValues[ObjectIdentifier(node)] {
      let here = given(of: node, at: ordinal)
      // Moving something to another place does not change it.
      if (here.map { [$0] } ?? known).contains(where: { isSame(table.staged[$0], value, in: table) }) {
        noteOld(ordinal)
        return nil
      }
      if let here { return (here, !hasSameFields(value, as: table.staged[here], in: table), false) }
      // Moved and changed: if it came from where its relations were left out, it must not lose them.
      let origin = known.first { hasSameRelations(value, as: table.staged[$0], in: table) }
      let isChanged = !known.contains { hasSameFields(value, as: table.staged[$0], in: table) }
      return (origin ?? -1, isChanged, true)
    }
    engine.refresh(node)
    if node.isSame(as: value) {
      if node.flags.contains(.rooted) || !node.holdsBits(of: value) { noteOld(ordinal) }
      return nil
    }
    guard table.isAggregate, let stored = node.value else { return (-1, true, false) }
    return (-1, !withUnsafePointer(to: stored) { hasSameFields(value, as: $0, in: table) }, false)
  }

  @usableFromInline func noteOld(_ ordinal: Int32) {
    if parent != nil { old.append(ordinal) }
  }

  @inlinable func isSame<T: Identifiable & Sendable>(
    _ old: UnsafePointer<T>, _ new: UnsafePointer<T>, in table: Table<T>
  ) -> Bool {
    haveSameBits(old, new) || (table.isEqual?(old, new) ?? false)
  }

  /// Whether two values are the same but for what is inside the entities they contain: the same entities in the same places,
  /// and all else equal.
  @inlinable func hasSameFields<T: Identifiable & Sendable>(
    _ value: UnsafePointer<T>, as other: UnsafePointer<T>, in table: Table<T>
  ) -> Bool {
    var value = value.pointee
    guard let schema = table.schema(of: &value), schema === table.schema(of: other) else { return false }
    for relation in schema.relations where !relation.isIdentical(&value, other) {
      guard haveSameEntities(&value, other, in: relation) else { return false }
      let reader = GivenReader(call: self)
      relation.walk(other, reader)
      if reader.found.isEmpty { continue }
      if table.isEqual == nil || relation.order != .elements {
        // Compared by bits, or in an order of its own: only as a whole can the place become the same.
        relation.copy(other, &value)
      } else {
        var cursor = PatchCursor(values: reader.found, in: engine)
        relation.patch(&value, &cursor)
      }
    }
    return isSame(other, &value, in: table)
  }

  /// Whether the same entities stand in the same places.
  @inlinable func haveSameEntities<Root>(
    _ a: UnsafePointer<Root>, _ b: UnsafePointer<Root>, in relation: Relation<Root>
  ) -> Bool {
    let (left, right) = (IdentityReader(engine: engine), IdentityReader(engine: engine))
    relation.walk(a, left)
    relation.walk(b, right)
    return relation.order == .elements ? left.found == right.found : Set(left.found) == Set(right.found)
  }

  // MARK: What the closure was given

  /// The entities in one relation of what the closure was given.
  @inlinable func readGivens<Root>(in given: UnsafePointer<Root>, of relation: Relation<Root>) {
    let reader = GivenReader(call: self)
    relation.walk(given, reader)
    givens = reader.found
    givenOrder = relation.order
    relationStart = Int32(truncatingIfNeeded: nodes.count)
  }

  /// The value of the entity that the closure was given in the same place, if it stood there.
  @inlinable func given(of node: Node, at ordinal: Int32) -> Int32? {
    let reference = NodeRef(node: node)
    if givenOrder != .elements {
      return givens.first { $0.key == key && $0.node.isSame(as: reference) }?.staged
    }
    let position = Int(ordinal - relationStart)
    guard givens.indices.contains(position), givens[position].node.isSame(as: reference) else { return nil }
    return givens[position].staged
  }

  @inlinable func hasSameRelations<T: Identifiable & Sendable>(
    _ value: UnsafePointer<T>, as other: UnsafePointer<T>, in table: Table<T>
  ) -> Bool {
    guard let schema = table.schema(of: value), schema === table.schema(of: other) else { return false }
    return schema.relations.allSatisfy { haveSameEntities(value, other, in: $0) }
  }

  /// All entities in what the closure was given, at every depth.
  @inlinable func readAllGivens<T: Identifiable & Sendable>(in given: UnsafePointer<T>, in table: Table<T>) {
    let reader = GivenReader(call: self)
    reader.visit(given, in: table)
    var next = 0
    while next < reader.found.count {
      let (reference, staged) = (reader.found[next].node, reader.found[next].staged)
      next += 1
      // The same value again has the same inside.
      if reference.node.note(givenAt: staged, in: self) { reference.node.readGivens(at: staged, with: reader) }
    }
  }
}
