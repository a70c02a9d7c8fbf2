/// A node that something else keeps alive.
@usableFromInline struct NodeRef {
  @usableFromInline let unmanaged: Unmanaged<Node>

  @inlinable init(node: Node) { unmanaged = Unmanaged.passUnretained(node) }
  @inlinable init<T>(_ reference: Unmanaged<EntityNode<T>>) { unmanaged = .fromOpaque(reference.toOpaque()) }

  @inlinable @inline(__always) var node: Node { unmanaged.takeUnretainedValue() }

  /// Works with the node without counting the reference.
  @inlinable @inline(__always) func with<R>(_ body: (Node) -> R) -> R { unmanaged._withUnsafeGuaranteedRef(body) }

  @inlinable @inline(__always) func isSame(as other: NodeRef) -> Bool {
    unmanaged.toOpaque() == other.unmanaged.toOpaque()
  }
}
