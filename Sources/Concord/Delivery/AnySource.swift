/// What holds an entity for those who observe it, whatever the type of the value that they are shown.
@usableFromInline class AnySource {
  @usableFromInline final let node: HeldNode

  /// The store's lock is held.
  @usableFromInline init(_ node: Node, _ shared: SharedCore) { self.node = HeldNode(node, shared) }

  @inlinable final var shared: SharedCore { node.shared }
  @usableFromInline final var handle: NodeHandle { node.handle }

  /// Whether it has no code of the user's.
  var holdsNodeOnly: Bool { true }
}
