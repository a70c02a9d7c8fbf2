// Which relations an entity is shown without, inside others of its cycle.
extension Node {
  /// Which relations the brief form leaves out; empty if it leaves out none.
  var omissions: [Bool] {
    guard links?.component != nil, let children else { return [] }
    let omitted = children.ends.indices.map { omitsWhenBrief(relation: $0) }
    return omitted.contains(true) ? omitted : []
  }

  /// Which relations of a child this node's value does not show.
  func omissions(of child: Node) -> [Bool] { isInSameCycle(as: child) ? child.omissions : [] }
}
