/// Tells the places of a value which entities were removed, by their ids.
@usableFromInline struct RemovalCursor {
  @usableFromInline let graph: Graph
  let visitor: Visitor
  /// What stood in the relation when it was visited.
  private var edges: ArraySlice<ChildEdge>?

  init(graph: Graph, visitor: Visitor) {
    self.graph = graph
    self.visitor = visitor
  }

  /// The cursor for one relation of a node.
  func inside(_ k: Int, of schema: AnySchema, _ node: Node) -> RemovalCursor {
    guard let children = node.children, children.schema === schema else { return self }
    var cursor = self
    cursor.edges = ArraySlice(children.edges[children.range(ofRelation: k)])
    return cursor
  }

  /// Where removed entities stand in an array of so many, as far as it has the same places as when it was visited; `nil` if it
  /// has others. Whoever uses it checks what it finds there, and afterwards what is left.
  func removedPositions(in count: Int) -> [Int]? {
    guard let edges, edges.count == count else { return nil }
    return edges.indices.filter { edges[$0].child.flags.contains(.removed) }.map { $0 - edges.startIndex }
  }

  @usableFromInline func isRemoved<T: Identifiable & Sendable>(_ value: T) -> Bool {
    graph.table(T.self).find(value.id)?.flags.contains(.removed) ?? false
  }
}

extension Visitor {
  /// How many removed entities are visited by `body`.
  func removedCount(_ body: () -> Void) -> Int { identify(body).count { $0?.flags.contains(.removed) ?? false } }

  /// The nodes visited by `body`; `nil` for an entity that is not stored and was not just removed.
  func identify(_ body: () -> Void) -> ContiguousArray<Node?> {
    let (outerPurpose, outerNodes) = (purpose, nodes)
    purpose = .identify
    nodes = []
    body()
    defer { (purpose, nodes) = (outerPurpose, outerNodes) }
    return nodes
  }
}
