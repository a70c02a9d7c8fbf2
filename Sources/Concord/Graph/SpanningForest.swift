/// Nodes that are reached from roots, each of which but the roots has a *support*: a neighbour by which it is reached.
///
/// The forest says without a search that a node is reached, and that an edge which goes is not needed: only if it was a support,
/// another one is looked for. A neighbour that is not reached through the node itself will do, which its own supports tell. Where
/// there is none, those that it supports look for other supports in turn, so that what is reached in another way is passed only at its
/// border (after Even and Shiloach, "An on-line edge-deletion problem", 1981, without their levels, since edges also come).
protocol SpanningForest {
  /// Whether the node supports its neighbours without a support, or is known to have one that was not lost.
  func isRoot(_ node: Node) -> Bool
  /// Whether the node can support its neighbours.
  func contains(_ node: Node) -> Bool
  func support(of node: Node) -> Node?
  func setSupport(of node: Node, _ support: Node?)
  /// Returns the first neighbour on the side of the roots that meets a condition.
  func firstAbove(_ node: Node, where isWanted: (Node) -> Bool) -> Node?
  func forEachBelow(_ node: Node, _ body: (Node) -> Void)
}

/// Mends a forest in which nodes have lost their supports.
///
/// It knows the forest as an existential: the compiler makes the search once, and not once for each kind of forest.
struct SupportSearch {
  let forest: any SpanningForest
  let graph: Graph

  init(_ forest: any SpanningForest, _ graph: Graph) { (self.forest, self.graph) = (forest, graph) }

  /// Finds other supports for nodes that lost theirs, and returns those that are not reached any longer.
  func restore(_ lost: ContiguousArray<Node>) -> ContiguousArray<Node> {
    let (lostMark, reachedMark) = (graph.nextMark(), graph.nextMark())
    // What is above of it was lost, for as long as no other support was found.
    var missedMark = graph.nextMark()
    var queue: ContiguousArray<Node> = []
    func lose(_ node: Node) {
      guard node.mark != lostMark else { return }
      node.mark = lostMark
      queue.append(node)
    }
    func isReached(_ first: Node) -> Bool {
      guard forest.contains(first) else { return false }
      var path: ContiguousArray<Node> = []
      var node = first
      while !forest.isRoot(node), node.mark != reachedMark {
        // Marked at once: holders that end meanwhile leave supports behind that may lead round and round.
        guard node.mark != lostMark, node.mark != missedMark, let support = forest.support(of: node) else {
          return false
        }
        node.mark = missedMark
        path.append(node)
        node = support
        graph.pathSteps += 1
      }
      for node in path { node.mark = reachedMark }
      return true
    }

    for node in lost { lose(node) }
    var unsupported: ContiguousArray<Node> = []
    var next = 0
    while next < queue.count {
      let node = queue[next]
      next += 1
      let support = forest.firstAbove(node, where: isReached)
      forest.setSupport(of: node, support)
      guard support == nil else {
        node.mark = reachedMark
        missedMark = graph.nextMark()
        continue
      }
      unsupported.append(node)
      forest.forEachBelow(node) {
        if !forest.isRoot($0), forest.contains($0), forest.support(of: $0) === node { lose($0) }
      }
    }
    attach(unsupported, lostMark)
    return unsupported.filter { $0.mark == lostMark }
  }

  /// Gives supports to nodes that have a mark, as far as they are reached from nodes without it. All nodes without it are reached.
  func attach(_ nodes: ContiguousArray<Node>, _ lostMark: Int) {
    var found: ContiguousArray<Node> = []
    func add(_ node: Node, _ support: Node) {
      forest.setSupport(of: node, support)
      node.mark = 0
      found.append(node)
    }
    for node in nodes where node.mark == lostMark {
      if let support = forest.firstAbove(node, where: { forest.contains($0) && $0.mark != lostMark }) {
        add(node, support)
      }
    }
    // In the order in which they were found, so that paths to roots are short.
    var next = 0
    while next < found.count {
      let support = found[next]
      next += 1
      forest.forEachBelow(support) { if $0.mark == lostMark { add($0, support) } }
    }
  }
}

extension Node {
  /// A mark of the last search that came by.
  final var mark: Int {
    get { withLinks { $0.mark } ?? 0 }
    set { ownLinks.mark = newValue }
  }
}
