/// A strongly connected component of the graph of occurrences: its identity counts.
///
/// When several become one, the largest keeps its identity, and so does the largest part when one falls apart: a change costs no
/// more than the smaller ones.
final class Component {
  /// The number of nodes in it.
  var count = 0
  /// Its position in the topological order.
  let rank = Rank()
  /// The node from which and to which the other ones have paths, as each of them knows; `nil` if that was not needed yet.
  var root: Borrowed<Node>?

  // Its neighbours in the topological order have references to its rank that are not counted.
  deinit { assert(count > 0 || !rank.isRanked, "a cycle that is empty was left in the topological order") }

  func isRoot(_ node: Node) -> Bool { root?.use { $0 === node } ?? false }
}

extension Node {
  /// The position of the node in the topological order, together with its cycle; `nil` if nothing was to be ordered yet.
  final var rank: Rank? { withLinks { $0.component?.rank ?? $0.rank } ?? nil }

  /// Whether the node may be on a path: it contains entities of types that can be in a cycle.
  final var isInner: Bool { children?.isInner ?? false }

  /// The cycle that it was in before the components were last brought up to date.
  final var formerComponent: Component? { withLinks { $0.isRelabelled ? $0.former : $0.component } ?? nil }
}
