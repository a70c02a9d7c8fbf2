/// The holder of an observed entity, whatever the type of the observed value.
@usableFromInline class AnySource {
  @usableFromInline final let node: HeldNode

  /// The store's lock is held.
  @usableFromInline init(_ node: Node, _ shared: SharedCore) {
    self.node = HeldNode(node, shared)
    #if Inspector
      if shared.core.feed.notesHolders { shared.core.feed.didHold(node, self) }
    #endif
  }

  @inlinable final var shared: SharedCore { node.shared }
  @usableFromInline final var handle: NodeHandle { node.handle }

  /// Whether the source holds nothing but the node, and so no code of the user's.
  var holdsNodeOnly: Bool { true }
}
