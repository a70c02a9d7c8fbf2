/// The relations of one value, shared by all values of the type that have the same.
@usableFromInline class AnySchema {
  /// The order of each relation.
  @usableFromInline final let orders: [PlaceOrder]

  @usableFromInline init(orders: [PlaceOrder]) { self.orders = orders }

  /// Whether the same entities stand in the same places; where order says nothing, in any order.
  @usableFromInline final func isSameStructure(
    _ nodes: ContiguousArray<NodeRef>, _ ends: ContiguousArray<Int32>, as list: ChildList?
  ) -> Bool {
    guard let list else { return nodes.isEmpty }
    guard list.schema === self, list.edges.count == nodes.count, list.ends == ends else { return false }
    var start = 0
    for k in orders.indices {
      let range = start..<Int(ends[k])
      start = range.upperBound
      if range.allSatisfy({ nodes[$0].isSame(as: list.edges[$0].reference) }) { continue }
      guard orders[k] != .elements,
        Set(range.map { nodes[$0].unmanaged.toOpaque() })
          == Set(range.map { list.edges[$0].reference.unmanaged.toOpaque() })
      else { return false }
    }
    return true
  }
}

@usableFromInline final class Schema<Root>: AnySchema {
  @usableFromInline let relations: [Relation<Root>]
  @usableFromInline let keyPaths: [PartialIdentifiableKeyPath<Root>]

  @inlinable init(_ keyPaths: [PartialIdentifiableKeyPath<Root>]) {
    let relations = keyPaths.map { $0.makeRelation() }
    self.keyPaths = keyPaths
    self.relations = relations
    super.init(orders: relations.map { $0.order })
  }

  @inlinable func describes(_ others: [PartialIdentifiableKeyPath<Root>]) -> Bool {
    guard keyPaths.count == others.count else { return false }
    for i in keyPaths.indices where !keyPaths[i].isSame(as: others[i]) { return false }
    return true
  }

  /// Writes children's newest values where `ordinals` say.
  @inlinable func patch(
    _ value: UnsafeMutablePointer<Root>, of parent: Node, children: ChildList, ordinals: ContiguousArray<Int32>,
    form: PatchCursor.Form = .whole
  ) -> PatchCursor {
    var cursor = PatchCursor(ordinals, of: parent, children: children, form: form)
    for k in relations.indices where cursor.hasWork(before: children.ends[k]) {
      cursor.move(to: k == 0 ? 0 : children.ends[k - 1])
      relations[k].patch(value, &cursor)
    }
    return cursor
  }

  /// Takes out what the cursor says. `false` if some of it is required, and `value` may be half changed then.
  @inlinable func takeOut(
    from value: UnsafeMutablePointer<Root>, _ cursor: inout RemovalCursor, children: ChildList
  ) -> Bool {
    var all = true
    for (k, relation) in relations.enumerated() {
      cursor.move(to: k == 0 ? 0 : children.ends[k - 1])
      if !relation.takeOut(value, &cursor) { all = false }
    }
    return all
  }

  /// The nodes of the entities in a value, all of them stored: in order, whether each is shown as it is, and where relations end.
  @inlinable func read(
    _ value: UnsafePointer<Root>, in engine: Engine
  ) -> (nodes: ContiguousArray<NodeRef>, isCurrent: ContiguousArray<Bool>, ends: ContiguousArray<Int32>) {
    let reader = StructureReader(engine: engine)
    var ends: ContiguousArray<Int32> = []
    for relation in relations {
      relation.walk(value, reader)
      ends.append(Int32(reader.nodes.count))
    }
    return (reader.nodes, reader.isCurrent, ends)
  }
}

/// The schemas of one type: one if its relations are fixed, else those its values were seen to have.
@usableFromInline final class Schemas<Root> {
  @usableFromInline let fixed: Schema<Root>?
  @exclusivity(unchecked) @usableFromInline var seen: [Schema<Root>] = []

  @inlinable init(fixed: [PartialIdentifiableKeyPath<Root>]?) { self.fixed = fixed.map { Schema($0) } }

  /// The schema of a value that declares these relations; they are not asked for if those of the type are fixed.
  @inlinable @inline(__always)
  func schema(for relations: () -> [PartialIdentifiableKeyPath<Root>]) -> Schema<Root> { fixed ?? find(relations()) }

  @inlinable func find(_ wanted: [PartialIdentifiableKeyPath<Root>]) -> Schema<Root> {
    for schema in seen where schema.describes(wanted) { return schema }
    let schema = Schema(wanted)
    // Values whose relations keep differing must not make the list grow without end.
    if seen.count == 16 { seen.removeFirst() }
    seen.append(schema)
    return schema
  }
}
