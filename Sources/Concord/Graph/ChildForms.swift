/// The forms of children's values that parents show.
@usableFromInline class ChildForms {
  @usableFromInline final let graph: Graph

  init(_ graph: Graph) { self.graph = graph }

  func exists(_ node: Node) -> Bool { false }
  func value<T: Identifiable & Sendable>(of child: EntityNode<T>, in parent: Node) -> T? { nil }
}
