/// A node, for those who do not hold the lock. Only who has the core, and so the lock, gets at it.
// Unchecked, because the compiler cannot see that; the reference itself never changes.
@usableFromInline struct NodeHandle: @unchecked Sendable {
  @usableFromInline let reference: Node

  @usableFromInline init(_ node: Node) { reference = node }

  @usableFromInline func node(in core: StoreCore) -> Node { reference }

  /// Works with the node without counting the reference.
  @inlinable @inline(__always) func use<R>(in core: StoreCore, _ body: (Node) -> R) -> R {
    Borrowed(reference).use(body)
  }

  var identity: ObjectIdentifier { ObjectIdentifier(reference) }
}
