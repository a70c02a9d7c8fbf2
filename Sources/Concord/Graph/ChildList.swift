/// An occurrence, seen from above.
@usableFromInline struct ChildEdge {
  @usableFromInline let reference: NodeRef
  /// Where the child's `parents` keep this edge.
  @usableFromInline var backIndex: Int32

  @inlinable @inline(__always) var child: Node { reference.node }
}

/// The occurrences in one entity's value, in the order in which its relations are walked.
@usableFromInline final class ChildList {
  @usableFromInline let schema: AnySchema
  @exclusivity(unchecked) @usableFromInline var edges: ContiguousArray<ChildEdge>
  /// Where each relation's occurrences end.
  @exclusivity(unchecked) @usableFromInline var ends: ContiguousArray<Int32>
  @exclusivity(unchecked) @usableFromInline var dirty = DirtySet()

  // Scratch for the search of cycles.
  @exclusivity(unchecked) @usableFromInline var visit: UInt32 = 0
  @exclusivity(unchecked) @usableFromInline var index: Int32 = 0
  @exclusivity(unchecked) @usableFromInline var low: Int32 = 0
  @exclusivity(unchecked) @usableFromInline var onStack = false
  @exclusivity(unchecked) @usableFromInline var component: UInt32 = 0
  @exclusivity(unchecked) @usableFromInline var reached: UInt32 = 0
  @exclusivity(unchecked) @usableFromInline unowned(unsafe) var treeParent: Node?
  @exclusivity(unchecked) @usableFromInline var treeOrdinal: Int32 = -1
  /// The call whose value the node holds as it was met; 0 once something in it has been renewed.
  @exclusivity(unchecked) @usableFromInline var adopted: UInt32 = 0
  /// A `CycleForms`, while one is in use.
  @exclusivity(unchecked) @usableFromInline var forms: AnyObject?

  @usableFromInline init(schema: AnySchema, edges: ContiguousArray<ChildEdge>, ends: ContiguousArray<Int32>) {
    self.schema = schema
    self.edges = edges
    self.ends = ends
  }

  @usableFromInline func snapshot() -> ChildSnapshot {
    ChildSnapshot(schema: schema, nodes: ContiguousArray(edges.lazy.map(\.child)), ends: ends)
  }
}

/// A copy of a child list that keeps its nodes.
@usableFromInline struct ChildSnapshot {
  @usableFromInline let schema: AnySchema
  @usableFromInline let nodes: ContiguousArray<Node>
  @usableFromInline let ends: ContiguousArray<Int32>

  /// Whether the list has the same entities in the same places.
  @usableFromInline func isSame(as list: ChildList?) -> Bool {
    schema.isSameStructure(ContiguousArray(nodes.lazy.map(NodeRef.init)), ends, as: list)
  }
}
