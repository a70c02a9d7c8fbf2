/// An occurrence, seen from above.
struct ChildEdge {
  unowned(unsafe) let child: Node
  /// Where the child's `parents` keep this edge.
  var backIndex: Int32
}

/// The occurrences in one entity's value, in the order in which its relations are walked.
final class ChildList {
  let schema: AnySchema
  var edges: ContiguousArray<ChildEdge>
  /// Where each relation's occurrences end.
  var ends: ContiguousArray<Int32>
  var dirty = DirtySet()

  // Scratch for the search of cycles.
  var visit: UInt32 = 0
  var index: Int32 = 0
  var low: Int32 = 0
  var onStack = false
  var component: UInt32 = 0
  var reached: UInt32 = 0
  unowned(unsafe) var treeParent: Node?
  var treeOrdinal: Int32 = -1
  /// A `CycleForms`, while one is in use.
  var forms: AnyObject?

  init(schema: AnySchema, edges: ContiguousArray<ChildEdge>, ends: ContiguousArray<Int32>) {
    self.schema = schema
    self.edges = edges
    self.ends = ends
  }

  func snapshot() -> ChildSnapshot {
    ChildSnapshot(schema: schema, nodes: ContiguousArray(edges.lazy.map(\.child)), ends: ends)
  }
}

/// A copy of a child list that keeps its nodes.
struct ChildSnapshot {
  let schema: AnySchema
  let nodes: ContiguousArray<Node>
  let ends: ContiguousArray<Int32>

  func isSame(as list: ChildList?) -> Bool {
    guard let list else { return nodes.isEmpty }
    guard schema === list.schema, nodes.count == list.edges.count, ends == list.ends else { return false }
    for i in nodes.indices where nodes[i] !== list.edges[i].child { return false }
    return true
  }
}
