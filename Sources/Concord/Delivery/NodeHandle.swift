/// A reference to a node for code that does not hold the lock. Access needs the core, and so the lock.
// Unchecked, because the compiler cannot see that; the reference itself never changes.
@usableFromInline struct NodeHandle: @unchecked Sendable {
  @usableFromInline let reference: Node

  @usableFromInline init(_ node: Node) { reference = node }

  @usableFromInline func node(in core: StoreCore) -> Node { reference }

  /// Passes the node to a closure, without counting the reference.
  @inlinable @inline(__always) func use<R>(in core: StoreCore, _ body: (Node) -> R) -> R {
    Borrowed(reference).use(body)
  }

  var identity: ObjectIdentifier { ObjectIdentifier(reference) }
}
