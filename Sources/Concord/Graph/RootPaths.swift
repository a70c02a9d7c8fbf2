/// The first edges of a node's paths from and to the root of its component.
///
/// They are kept only in components that have a root, and refer to nodes of the component.
struct RootPaths {
  var from: Borrowed<Node>?
  var to: Borrowed<Node>?
}

/// The nodes of a component, as its root reaches them.
struct PathsFromRoot: SpanningForest {
  let component: Component

  func isRoot(_ node: Node) -> Bool { component.isRoot(node) }
  func contains(_ node: Node) -> Bool { node.links?.component === component }
  func support(of node: Node) -> Node? { node.links?.paths.from?.use { $0 } }
  func setSupport(of node: Node, _ support: Node?) { node.ownLinks.paths.from = support.map { Borrowed($0) } }

  func firstAbove(_ node: Node, where isWanted: (Node) -> Bool) -> Node? {
    node.parents.first { isWanted($0.parent) }?.parent
  }

  func forEachBelow(_ node: Node, _ body: (Node) -> Void) {
    for edge in node.children?.edges ?? [] { body(edge.child) }
  }
}

/// The nodes of a component, as they reach its root.
struct PathsToRoot: SpanningForest {
  let component: Component

  func isRoot(_ node: Node) -> Bool { component.isRoot(node) }
  func contains(_ node: Node) -> Bool { node.links?.component === component }
  func support(of node: Node) -> Node? { node.links?.paths.to?.use { $0 } }
  func setSupport(of node: Node, _ support: Node?) { node.ownLinks.paths.to = support.map { Borrowed($0) } }

  func firstAbove(_ node: Node, where isWanted: (Node) -> Bool) -> Node? {
    node.children?.edges.first { isWanted($0.child) }?.child
  }

  func forEachBelow(_ node: Node, _ body: (Node) -> Void) { for edge in node.parents { body(edge.parent) } }
}
