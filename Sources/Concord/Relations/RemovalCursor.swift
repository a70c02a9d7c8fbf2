/// Tells the places of a value which entities were removed, by their ids.
@usableFromInline struct RemovalCursor {
  @usableFromInline let graph: Graph
  let visitor: Visitor

  @usableFromInline func isRemoved<T: Identifiable & Sendable>(_ value: T) -> Bool {
    graph.table(T.self).find(value.id)?.flags.contains(.removed) ?? false
  }

  /// How many removed entities a wrapper holds.
  func count<W: EntityWrapper>(in wrapper: W) -> Int {
    visitor.removedCount { WrapperPlace<W>.visit(wrapper, visitor) }
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
