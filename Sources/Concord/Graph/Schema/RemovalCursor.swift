/// A cursor that tells the places of a value which entities were removed, by their ids.
@usableFromInline struct RemovalCursor {
  @usableFromInline let graph: Graph
  let visitor: Visitor
  /// The relation's edges when it was visited.
  private var edges: ArraySlice<ChildEdge>?

  init(graph: Graph, visitor: Visitor) {
    self.graph = graph
    self.visitor = visitor
  }

  /// Returns the cursor for one relation of a node.
  func inside(_ k: Int, of schema: AnySchema, _ node: Node) -> RemovalCursor {
    guard let children = node.children, children.schema === schema else { return self }
    var cursor = self
    cursor.edges = ArraySlice(children.edges[children.range(ofRelation: k)])
    return cursor
  }

  /// Returns the positions of removed entities in an array with `count` elements, if it has the same places as when it was
  /// visited; otherwise `nil`. The caller checks the elements at the positions, and afterwards the remaining ones.
  func removedPositions(in count: Int) -> [Int]? {
    guard let edges, edges.count == count else { return nil }
    return edges.indices.filter { edges[$0].child.flags.contains(.removed) }.map { $0 - edges.startIndex }
  }

  @usableFromInline func isRemoved<T: Identifiable & Sendable>(_ value: T) -> Bool {
    graph.table(T.self).find(value.id)?.flags.contains(.removed) ?? false
  }
}

extension Visitor {
  /// Returns the number of removed entities that `body` visits.
  func removedCount(_ body: () -> Void) -> Int { identify(body).count { $0?.flags.contains(.removed) ?? false } }

  /// Returns the nodes that `body` visits; `nil` for an entity that is not stored and was not just removed.
  func identify(_ body: () -> Void) -> ContiguousArray<Node?> {
    let (outerPurpose, outerNodes) = (purpose, nodes)
    purpose = .identify
    nodes = []
    body()
    defer { (purpose, nodes) = (outerPurpose, outerNodes) }
    return nodes
  }
}
