// Invariant: a table keeps a node for as long as the node has a holder, which `AnyTable.remove` checks, and the core keeps its
// tables. So the holder's own reference need not be counted. Debug builds check that, as for every `Borrowed` reference.

/// A holder of a node, from its creation to its end, which also retains the store's core.
// Unchecked, because the compiler cannot see that only who has the core, and so the lock, gets at the node.
@usableFromInline struct HeldNode: ~Copyable, @unchecked Sendable {
  @usableFromInline let shared: SharedCore
  @usableFromInline let reference: Borrowed<Node>

  /// The store's lock is held.
  @usableFromInline init(_ node: Node, _ shared: SharedCore) {
    self.shared = shared
    reference = Borrowed(node)
    node.holders.add()
  }

  deinit {
    // The last holder is removed with the lock held, and never waits for it.
    if reference.use({ $0.holders.removeUnlessLast() }) { return }
    shared.putOffRelease(of: handle)
    // The node is not referenced any longer here, so it is freed in this call. Values that it retained are released after it,
    // not recursively: a long chain of values that retain each other needs no deep stack.
    shared.performReleasesUnlessLocked()
  }

  @inlinable @inline(__always) func use<R>(in core: StoreCore, _ body: (Node) -> R) -> R { reference.use(body) }

  /// Whether the node is that of an entity of a type, which never changes.
  @inlinable func isNode(of type: Any.Type) -> Bool {
    reference.use { $0.table.valueType == ObjectIdentifier(type) }
  }

  /// A handle to the node, which does not hold it.
  @usableFromInline var handle: NodeHandle { reference.use { NodeHandle($0) } }

  var identity: ObjectIdentifier { reference.use { ObjectIdentifier($0) } }
}
