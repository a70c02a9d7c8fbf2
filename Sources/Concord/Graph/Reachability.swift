/// The reachability of entities: an entity is retained by a holder (an observer, an alias), or by a retained parent.
///
/// Without cycles, counting parents would suffice. For types that can form cycles each node without a holder has a
/// `retainer`: one parent through which it is known to be reachable. Retainers form a forest whose roots have holders (or are
/// of types that cannot form cycles), so a node with a retainer is reachable. While a node has a holder, its retainer is not
/// maintained, and may even be reachable only through the node itself. So the loss of the retainer and that of the last
/// holder both need a search for another path to a holder (see `SpanningForest`).
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
      var lost: ContiguousArray<Node> = []
      while let node = graph.unexamined.popLast() {
        guard node.holders.count == 0 else { continue }
        if !node.exists || node.parents.isEmpty {
          release(node)
        } else if node.table.isRecursive {
          lost.append(node)
        }
      }
      lost.removeAll { !$0.exists }
      if lost.isEmpty { continue }
      for node in SupportSearch(Retainers(retaining: lost, graph), graph).restore(lost) { release(node) }
    }
  }

  private func release(_ node: Node) {
    let existed = node.exists
    if existed {
      graph.journal.willWrite(node)
      graph.written.append(released: node)
      graph.noteChange(of: node)
      // The release of an entity that layers hide was logged when they hid it.
      if !graph.journal.isLayered || graph.journal.existed(node) { log.append(.released, node) }
      node.flags.remove(.exists)
    }
    graph.removeChildren(of: node)
    if graph.journal.isLayered, keeps(node, existed) { return }
    node.table.remove(node)
    if node.table.isOfHubs { graph.releasedHubs.append(node) }
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

/// The nodes that are reached from holders, each through its retainer.
private struct Retainers: SpanningForest {
  /// The end of the search in the topological order: nothing before it is reached through an examined node; `nil` if the order is not
  /// known.
  private let end: Int?

  init(retaining nodes: ContiguousArray<Node>, _ graph: Graph) {
    // An edge that has not been looked at yet may lead back in the order.
    guard graph.restructured.isEmpty else {
      end = nil
      return
    }
    // Nothing is reached through a node that leads to nothing.
    let labels = nodes.lazy.filter(\.isInner).map { $0.rank?.label ?? .min }
    end = labels.min() ?? .max
  }

  func isRoot(_ node: Node) -> Bool {
    if node.holders.count > 0 || !node.table.isRecursive { return true }
    if let end, let rank = node.rank { return rank.label < end }
    return false
  }

  func contains(_ node: Node) -> Bool { node.exists }
  func support(of node: Node) -> Node? { node.links?.retainer }
  func setSupport(of node: Node, _ support: Node?) { node.ownLinks.retainer = support }

  func firstAbove(_ node: Node, where isWanted: (Node) -> Bool) -> Node? {
    if let retainer = node.links?.retainer, isWanted(retainer) { return retainer }
    return node.parents.first { isWanted($0.parent) }?.parent
  }

  func forEachBelow(_ node: Node, _ body: (Node) -> Void) {
    for edge in node.children?.edges ?? [] { body(edge.child) }
  }
}
