// What the engine does with values whose type it does not know. Not specialised, and so no part of the code of whoever uses
// the store.
extension Table {
  func holds(_ slot: Int32) -> Bool { slot >= 0 && Int(slot) < pending.count }

  func value(_ reference: ValueReference) -> T? {
    switch reference {
    case .own(let node): node.typed(T.self)?.value
    case .pending(let slot): holds(slot) ? pending[Int(slot)] : nil
    }
  }

  func schema(of value: T) -> Schema<T>? { declared.schemas.fixed ?? declared.ofValue?(value) }

  /// Whether two values are the same but for what is inside the entities they contain, and for relations that are `kept`.
  func haveSameFields(_ value: T, _ other: T, keeping kept: [Bool], _ graph: Graph) -> Bool {
    guard let schema = schema(of: other) else { return isSame(value, other) }
    guard schema === self.schema(of: value) else { return false }
    var value = value
    for (k, relation) in schema.relations.enumerated() {
      if relation.isIdentical(value, other) { continue }
      if kept.indices.contains(k), kept[k] {
        relation.copy(other, into: &value)
      } else if relation.isOmitted(in: value) != relation.isOmitted(in: other)
        || !relation.transplant(other, into: &value, graph)
      {
        return false
      }
    }
    return isSame(value, other)
  }

  /// The value as another entity of the same cycle shows it: without the relations that lead back into the cycle.
  func brief(of node: EntityNode<T>) -> T? {
    guard let graph, var value = node.value, let children = node.children, let schema = children.schema.typed(T.self)
    else {
      return node.value
    }
    let omitted = schema.relations.indices.map { node.omitsWhenBrief(relation: $0) }
    guard omitted.contains(true) else { return value }
    // Getters, setters and observers run once, not once for each of those who show the form.
    let isKept = !schema.isStored
    if isKept, let known = children.brief as? BriefForm<T>, known.omitted == omitted,
      Concord.haveSameBits(known.whole, value)
    {
      return known.value
    }
    let whole = value
    for k in omitted.indices where omitted[k] { schema.relations[k].omit(in: &value, graph) }
    if isKept { children.brief = BriefForm(whole: whole, omitted: omitted, value: value) }
    return value
  }
}

/// The brief form of a value, kept as long as the value is the same.
private final class BriefForm<T> {
  let whole: T
  let omitted: [Bool]
  let value: T

  init(whole: T, omitted: [Bool], value: T) { (self.whole, self.omitted, self.value) = (whole, omitted, value) }
}

extension Node {
  /// Whether the brief form leaves a relation out: it leads back into the cycle, and can be left out.
  func omitsWhenBrief(relation k: Int) -> Bool {
    guard links?.component != nil, let children, children.canOmit(k, of: self) else { return false }
    return children.range(ofRelation: k).contains { isInSameCycle(as: children.edges[$0].child) }
  }
}
