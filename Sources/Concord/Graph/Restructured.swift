/// Nodes of recursive types whose children changed since components were last searched, with the children they had then.
final class Restructured {
  private let backlog: Backlog
  @exclusivity(unchecked) private var changes: ContiguousArray<(node: Node, former: ChildList?)> = []
  /// Nodes all of whose edges are to be looked at.
  @exclusivity(unchecked) private var unordered: ContiguousArray<Node> = []

  init(_ backlog: Backlog) { self.backlog = backlog }

  var isEmpty: Bool { changes.isEmpty && unordered.isEmpty }

  /// The node is about to get other children.
  func willChange(_ node: Node) {
    guard !node.flags.contains(.restructured) else { return }
    node.flags.insert(.restructured)
    changes.append((node, node.children))
    backlog.add()
  }

  /// Nothing is known of how the node is ordered among those that it leads to, and those that lead to it.
  func insertUnordered(_ node: Node) {
    unordered.append(node)
    backlog.add()
  }

  func takeChanges() -> ContiguousArray<(node: Node, former: ChildList?)> {
    var taken: ContiguousArray<(node: Node, former: ChildList?)> = []
    swap(&taken, &changes)
    for change in taken { change.node.flags.remove(.restructured) }
    return taken
  }

  func takeUnordered() -> ContiguousArray<Node> {
    var taken: ContiguousArray<Node> = []
    swap(&taken, &unordered)
    return taken
  }
}
