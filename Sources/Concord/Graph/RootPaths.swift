// Invariant: these references are not counted, and stay from one transaction to the next. In a component that has a root, the
// supports of a node are neighbours of it in the same component. So a node to which other nodes refer is in their component; and
// before it is freed it is taken out of that, by the search for components. Until then the list of restructured nodes retains
// it: as a node that lost its children, or in the children that its last parent had. The search gives each node that lost a
// support another one, or takes it out of the component, too, with its own supports, and a component that loses its root has
// none. Supports in a component without a root are never followed, and are replaced once it gets one.
//
// Debug builds check that no node is freed inside a component (`Node.deinit`), and `_checkInvariants` that supports are
// neighbours inside of it.

/// The first edges of a node's paths from and to the root of its component.
struct RootPaths {
  var from: Borrowed<Node>?
  var to: Borrowed<Node>?

  subscript(direction: RootForest.Direction) -> Borrowed<Node>? {
    get {
      switch direction {
      case .fromRoot: from
      case .toRoot: to
      }
    }
    set {
      switch direction {
      case .fromRoot: from = newValue
      case .toRoot: to = newValue
      }
    }
  }
}

/// The nodes of a component, as its root reaches them or as they reach it.
struct RootForest: SpanningForest {
  enum Direction {
    case fromRoot
    case toRoot
  }

  let component: Component
  let direction: Direction

  init(_ component: Component, _ direction: Direction) { (self.component, self.direction) = (component, direction) }

  func isRoot(_ node: Node) -> Bool { component.isRoot(node) }
  func contains(_ node: Node) -> Bool { node.links?.component === component }
  func support(of node: Node) -> Node? { node.links?.paths[direction]?.use { $0 } }
  func setSupport(of node: Node, _ support: Node?) { node.ownLinks.paths[direction] = support.map { Borrowed($0) } }

  func firstAbove(_ node: Node, where isWanted: (Node) -> Bool) -> Node? {
    switch direction {
    case .fromRoot: node.parents.first { isWanted($0.parent) }?.parent
    case .toRoot: node.children?.edges.first { isWanted($0.child) }?.child
    }
  }

  func forEachBelow(_ node: Node, _ body: (Node) -> Void) {
    switch direction {
    case .fromRoot: for edge in node.children?.edges ?? [] { body(edge.child) }
    case .toRoot: for edge in node.parents { body(edge.parent) }
    }
  }
}
