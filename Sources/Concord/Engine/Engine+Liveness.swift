/// Who lives: an entity that has a holder, or a parent that lives.
///
/// Counting parents would do if there were no cycles. For types that can form cycles each node without a holder has a
/// `keeper`: one parent through which it is known to live. Keepers form a forest whose roots have holders (or are of
/// types that cannot form cycles), so a node with a keeper lives. The keeper of a node with a holder does not count: the
/// chain above it may come back to the node itself. So the loss of the keeper or of the last holder needs a search.
extension Engine {
  /// Has a node examined when the outermost operation ends.
  @usableFromInline func suspect(_ node: Node) {
    guard !node.flags.contains(.suspect) else { return }
    node.flags.insert(.suspect)
    suspects.append(node)
  }

  /// Lets go of all that nobody keeps. The lock is held.
  @usableFromInline func examineSuspects() {
    guard !suspects.isEmpty else { return }
    var doubtful: [Node] = []
    while true {
      while let node = suspects.popLast() {
        node.flags.remove(.suspect)
        guard node.holders == 0 else { continue }
        if !node.exists || node.parents.isEmpty {
          letGo(node)
        } else if node.table.isRecursive, !hasKeeper(node) {
          doubtful.append(node)
        }
      }
      guard !doubtful.isEmpty else { return }
      decide(doubtful)
      doubtful = []
    }
  }

  @usableFromInline func letGo(_ node: Node) {
    if node.exists {
      node.flags.remove(.exists)
      if let logger, !node.table.isInternal, let entry = node.logRelease(to: logger) { logs.append(entry) }
    }
    removeChildren(of: node)
    if node.flags.contains(.candidate) { graveyard.append(node) }
    node.leaveTable()
  }

  /// Whether the node's keeper, or another of its parents, still does; a few are looked at, each a few keepers up.
  private func hasKeeper(_ node: Node) -> Bool {
    if let keeper = node.keeper, lives(keeper, without: node) { return true }
    for i in 0..<min(node.parents.count, 8) where lives(node.parents[i].parent, without: node) {
      node.keeper = node.parents[i].parent
      return true
    }
    return false
  }

  private func lives(_ first: Node, without node: Node) -> Bool {
    var top = first
    var steps = 0
    while top !== node, top.holders == 0, top.table.isRecursive, let keeper = top.keeper, steps < 64 {
      top = keeper
      steps += 1
    }
    return top !== node && top.exists && (top.holders > 0 || !top.table.isRecursive)
  }

  /// Examines nodes that lost their keeper, together with all that live through them.
  @usableFromInline func decide(_ doubtful: [Node]) {
    var all: [Node] = []
    var stack = doubtful
    while let node = stack.popLast() {
      guard !node.flags.contains(.doubtful), node.exists else { continue }
      node.flags.insert(.doubtful)
      all.append(node)
      for edge in node.children?.edges ?? [] where edge.child.keeper === node { stack.append(edge.child) }
    }
    // Whoever has a holder, or a parent beyond doubt, lives, and so does what is below.
    var alive: [Node] = []
    for node in all {
      node.keeper = nil
      if node.holders > 0 {
        alive.append(node)
        continue
      }
      for i in 0..<node.parents.count {
        let parent = node.parents[i].parent
        if parent.exists, !parent.flags.contains(.doubtful) {
          node.keeper = parent
          alive.append(node)
          break
        }
      }
    }
    for node in alive { node.flags.remove(.doubtful) }
    while let node = alive.popLast() {
      for edge in node.children?.edges ?? [] where edge.child.flags.contains(.doubtful) {
        edge.child.flags.remove(.doubtful)
        edge.child.keeper = node
        alive.append(edge.child)
      }
    }
    for node in all where node.flags.contains(.doubtful) {
      node.flags.remove(.doubtful)
      letGo(node)
    }
  }

  /// An alias begins or ceases to keep what it names.
  @usableFromInline func setRegistered(_ node: Node, _ registered: Bool) {
    guard node.flags.contains(.registered) != registered else { return }
    if registered {
      node.flags.insert(.registered)
      node.addHolder()
    } else {
      node.flags.remove(.registered)
      node.removeHolder()
      if node.holders == 0 { suspect(node) }
    }
  }
}
