/// The nodes whose values may have changed in the open transaction, in the order of the changes, once somebody reads within it what is made of
/// many: so a reading looks at what changed since the one before.
///
/// What is undone changes values, too, and is noted like a change. So nothing is ever taken out.
final class ChangeTrace {
  /// The number of the transaction, which no other one has.
  @exclusivity(unchecked) private(set) var number: UInt64 = 0
  @exclusivity(unchecked) private var nodes: ContiguousArray<Node> = []
  /// The number of nodes at the last mark.
  @exclusivity(unchecked) private var marked = 0

  /// Notes a node, unless it is the last one and nobody has read since.
  func note(_ node: Node) {
    if nodes.count > marked, nodes.last === node { return }
    nodes.append(node)
  }

  /// Returns the place behind all changes so far.
  func mark() -> Int {
    marked = nodes.count
    return marked
  }

  /// Returns the nodes noted since a mark; one may be among them several times.
  func nodes(since mark: Int) -> ContiguousArray<Node> { ContiguousArray(nodes[mark...]) }

  /// Ends the transaction.
  func end() {
    number += 1
    (nodes, marked) = ([], 0)
  }
}
