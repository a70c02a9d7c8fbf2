/// The place of a wrapper, which tells the relations of each value.
@usableFromInline enum WrapperPlace<W: EntityWrapper>: Place {
  @inlinable static func visit(_ value: W, _ visitor: Visitor) {
    let schema = visitor.graph.schema(of: value)
    for k in schema.indices { schema[k].visit(value, visitor) }
  }

  @usableFromInline static func patch(_ value: inout W, _ cursor: inout PatchCursor) {
    let schema = cursor.graph.schema(of: value)
    for k in schema.indices { schema[k].patch(&value, &cursor) }
    // The relations of a wrapper may depend on what was written into it.
    if W.fixedRelations == nil { cursor.mustVisitAgain = true }
  }

  @usableFromInline static func remove(from value: inout W, _ cursor: RemovalCursor) -> Bool {
    let before = cursor.count(in: value)
    guard before > 0 else { return true }
    var isPossible = true
    let schema = cursor.graph.schema(of: value)
    for k in schema.indices where !schema[k].remove(from: &value, cursor) { isPossible = false }
    // A setter may ignore what it is given; only what the wrapper shows afterwards counts.
    return isPossible && cursor.count(in: value) == 0
  }

  @usableFromInline static var order: PlaceOrder { .depends }
  // A wrapper inside may be one whose relations are not fixed. Wrappers may hold themselves, so it is not asked.
  @usableFromInline static var mayDependOnEntities: Bool {
    W.fixedRelations?.contains { $0.makeRelation().order == .depends } ?? true
  }
  @usableFromInline static var canOmit: Omittability { .depends }

  @usableFromInline static func omit(_ value: inout W, _ graph: Graph) {
    let schema = graph.schema(of: value)
    for k in schema.indices { schema[k].omit(in: &value, graph) }
  }

  @usableFromInline static func omission(of value: W) -> Omission { .absent }

  @usableFromInline static func transplant(_ source: W, into value: inout W, _ graph: Graph) -> Bool {
    let schema = graph.schema(of: source)
    guard schema === graph.schema(of: value) else { return false }
    return schema.indices.allSatisfy { schema[$0].transplant(source, into: &value, graph) }
  }
}

extension RemovalCursor {
  /// Returns the number of removed entities in a wrapper.
  func count<W: EntityWrapper>(in wrapper: W) -> Int {
    visitor.removedCount { WrapperPlace<W>.visit(wrapper, visitor) }
  }
}
