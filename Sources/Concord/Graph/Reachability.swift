/// The reachability of entities: an entity is retained by a holder (an observer, an alias), or by a retained parent.
///
/// Without cycles, counting parents would suffice. For types that can form cycles each node without a holder has a
/// `retainer`: one parent through which it is known to be reachable. Retainers form a forest whose roots have holders (or are
/// of types that cannot form cycles), so a node with a retainer is reachable. While a node has a holder, its retainer is not
/// maintained, and may even be reachable only through the node itself. So the loss of the retainer and that of the last
/// holder both need a search for another path to a holder.
final class Reachability {
  private let graph: Graph
  private let log: LogBuffer
  /// A closure that decides, while there are layers, whether a node that is about to be released stays in its table.
  var keeps: (_ node: Node, _ existed: Bool) -> Bool = { _, _ in false }

  init(graph: Graph, log: LogBuffer) {
    self.graph = graph
    self.log = log
  }

  /// Releases all nodes that are not reachable any longer.
  func examine() {
    while !graph.unexamined.isEmpty {
      var doubtful: [Node] = []
      while let node = graph.unexamined.popLast() {
        guard node.holders.count == 0 else { continue }
        if !node.exists || node.parents.isEmpty {
          release(node)
        } else if node.table.isRecursive, !findRetainer(of: node) {
          doubtful.append(node)
        }
      }
      if !doubtful.isEmpty { decide(doubtful) }
    }
  }

  private func release(_ node: Node) {
    let existed = node.exists
    if existed {
      graph.journal.willWrite(node)
      graph.written.append(released: node)
      // The release of an entity that layers hide was logged when they hid it.
      if !graph.journal.isLayered || graph.journal.existed(node) { log.append(.released, node) }
      node.flags.remove(.exists)
    }
    graph.removeChildren(of: node)
    if graph.journal.isLayered, keeps(node, existed) { return }
    node.table.remove(node)
    if node.table.isOfHubs { graph.releasedHubs.append(node) }
  }

  /// Whether the node's retainer, or one of a few other parents, is reachable, by following a limited number of retainers.
  private func findRetainer(of node: Node) -> Bool {
    if let retainer = node.links?.retainer, isReachable(retainer, without: node) { return true }
    for edge in node.parents.prefix(8) where isReachable(edge.parent, without: node) {
      setRetainer(of: node, edge.parent)
      return true
    }
    return false
  }

  private func isReachable(_ first: Node, without node: Node) -> Bool {
    var top = first
    for _ in 0..<64 {
      guard top !== node, top.holders.count == 0, top.table.isRecursive, let retainer = top.links?.retainer else {
        break
      }
      top = retainer
    }
    return top !== node && top.exists && (top.holders.count > 0 || !top.table.isRecursive)
  }

  private func setRetainer(of node: Node, _ parent: Node?) {
    let links = node.ownLinks
    links.retainer = parent
  }

  /// Examines nodes that lost their retainer, together with all nodes that are reachable only through them.
  private func decide(_ doubtful: [Node]) {
    var all: [Node] = []
    var stack = doubtful
    while let node = stack.popLast() {
      guard !node.flags.contains(.doubtful), node.exists else { continue }
      node.flags.insert(.doubtful)
      all.append(node)
      for edge in node.children?.edges ?? [] where edge.child.links?.retainer === node { stack.append(edge.child) }
    }
    // A node with a holder, or with a parent that is not in doubt, is reachable, and so are the nodes inside it.
    var reachable: [Node] = []
    for node in all {
      node.links?.retainer = nil
      if node.holders.count > 0 {
        reachable.append(node)
      } else if let parent = node.parents.first(where: { $0.parent.exists && !$0.parent.flags.contains(.doubtful) }) {
        setRetainer(of: node, parent.parent)
        reachable.append(node)
      }
    }
    for node in reachable { node.flags.remove(.doubtful) }
    while let node = reachable.popLast() {
      for edge in node.children?.edges ?? [] where edge.child.flags.contains(.doubtful) {
        edge.child.flags.remove(.doubtful)
        setRetainer(of: edge.child, node)
        reachable.append(edge.child)
      }
    }
    for node in all where node.flags.contains(.doubtful) {
      node.flags.remove(.doubtful)
      release(node)
    }
  }

  /// Lets an alias begin or cease to hold its entity.
  func setRegistered(_ node: Node, _ isRegistered: Bool) {
    guard node.flags.contains(.registered) != isRegistered else { return }
    if isRegistered {
      node.flags.insert(.registered)
      node.holders.add()
    } else {
      node.flags.remove(.registered)
      node.holders.remove()
      if node.holders.count == 0 { graph.unexamined.insert(node) }
    }
  }
}
