/// A queue of nodes, each of which is in it once.
final class NodeQueue {
  private let flag: Node.Flags
  private let backlog: Backlog
  @exclusivity(unchecked) private var nodes: ContiguousArray<Node> = []

  init(_ flag: Node.Flags, _ backlog: Backlog) {
    self.flag = flag
    self.backlog = backlog
  }

  var isEmpty: Bool { nodes.isEmpty }
  /// All nodes, which stay in the queue.
  var all: ContiguousArray<Node> { nodes }

  /// Removes and returns the only node, if there is exactly one, and if it meets a condition.
  func takeOnly(where isWanted: (Node) -> Bool) -> Node? {
    guard nodes.count == 1, Borrowed(nodes[0]).use(isWanted) else { return nil }
    let node = nodes.removeLast()
    node.flags.remove(flag)
    return node
  }

  func insert(_ node: Node) {
    guard !node.flags.contains(flag) else { return }
    node.flags.insert(flag)
    nodes.append(node)
    if flag == .notified { backlog.addNotice() } else { backlog.add() }
  }

  func popLast() -> Node? {
    guard let node = nodes.popLast() else { return nil }
    node.flags.remove(flag)
    nodes.shrink(beyond: 1_024)
    return node
  }

  /// Removes and returns all nodes.
  func takeAll() -> ContiguousArray<Node> {
    guard !nodes.isEmpty else { return [] }
    var taken: ContiguousArray<Node> = []
    swap(&taken, &nodes)
    for node in taken { node.flags.remove(flag) }
    return taken
  }
}
