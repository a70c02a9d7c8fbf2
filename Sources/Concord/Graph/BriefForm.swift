// The brief form of an entity's value, which other entities of its cycle show: it omits the relations that lead back into the
// cycle.
extension Table {
  /// Returns the brief form of a node's value, without the relations that lead back into the cycle.
  func brief(of node: EntityNode<T>) -> T? {
    guard let graph, var value = node.value, let children = node.children, let schema = children.schema.typed(T.self)
    else {
      return node.value
    }
    let omitted = schema.indices.map { node.omitsWhenBrief(relation: $0) }
    guard omitted.contains(true) else { return value }
    // Getters, setters and property observers run once, not once for each parent that shows the form.
    let isKept = !schema.isStored
    if isKept, let known = children.brief as? BriefForm<T>, known.omitted == omitted,
      Concord.haveSameBits(known.whole, value)
    {
      return known.value
    }
    let whole = value
    for k in omitted.indices where omitted[k] { schema[k].omit(in: &value, graph) }
    if isKept { children.brief = BriefForm(whole: whole, omitted: omitted, value: value) }
    return value
  }
}

/// The cached brief form of a value.
private final class BriefForm<T> {
  let whole: T
  let omitted: [Bool]
  let value: T

  init(whole: T, omitted: [Bool], value: T) { (self.whole, self.omitted, self.value) = (whole, omitted, value) }
}

extension Node {
  /// Whether the brief form omits a relation: it leads back into the cycle, and can be omitted.
  func omitsWhenBrief(relation k: Int) -> Bool {
    guard links?.component != nil, let children, children.canOmit(k, of: self) else { return false }
    return children.range(ofRelation: k).contains { isInSameCycle(as: children.edges[$0].child) }
  }

  /// Whether the brief form omits the relation that an ordinal belongs to.
  func omitsWhenBrief(ordinal: Int32) -> Bool {
    guard links?.component != nil, let children else { return false }
    return omitsWhenBrief(relation: children.relation(of: ordinal))
  }

  /// The relations that the brief form omits; empty if there are none.
  var omissions: [Bool] {
    guard links?.component != nil, let children else { return [] }
    let omitted = children.ends.indices.map { omitsWhenBrief(relation: $0) }
    return omitted.contains(true) ? omitted : []
  }

  /// Returns the relations of a child that this node's value does not show.
  func omissions(of child: Node) -> [Bool] { isInSameCycle(as: child) ? child.omissions : [] }
}
