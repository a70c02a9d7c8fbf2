/// An occurrence, seen from above: the child, and where its `parents` have this edge.
struct ChildEdge {
  let child: Node
  var backIndex: Int32 = -1
}

/// The occurrences in one entity's value, in the order in which its relations are visited; an occurrence's position is its
/// ordinal. Edges are strong in both directions, so none leads to a freed node; they are taken apart when the entity goes.
@usableFromInline final class ChildList {
  let schema: AnySchema
  @exclusivity(unchecked) var edges: ContiguousArray<ChildEdge>
  /// Where each relation's occurrences end.
  let ends: ContiguousArray<Int32>
  @exclusivity(unchecked) var stale = StaleSet()
  /// The brief form of the node's value, if making it calls code of the user's.
  var brief: AnyObject?
  /// Some child is of a type that can be in a cycle.
  var isInner = false
  /// Scratch for the search of components.
  var search = ComponentSearch.Mark()

  init(schema: AnySchema, edges: ContiguousArray<ChildEdge>, ends: ContiguousArray<Int32>) {
    self.schema = schema
    self.edges = edges
    self.ends = ends
  }

  /// Whether a relation that only trying tells about can be left out, as it is in this value; found when first asked for.
  private var triedToOmit: [Int: Bool] = [:]

  /// Whether a relation of the node, whose children these are, can be left out.
  func canOmit(_ k: Int, of node: Node) -> Bool {
    guard schema.canOmit.indices.contains(k) else { return false }
    switch schema.canOmit[k] {
    case .never: return false
    case .always: return true
    case .depends:
      if let known = triedToOmit[k] { return known }
      let canOmit = node.table.canOmit(relation: k, of: schema, in: node)
      triedToOmit[k] = canOmit
      return canOmit
    }
  }

  /// Whether some child is of a type that can be in a cycle.
  var containsRecursive: Bool { edges.contains { $0.child.table.isRecursive } }

  func start(ofRelation k: Int) -> Int32 { k == 0 ? 0 : ends[k - 1] }
  func range(ofRelation k: Int) -> Range<Int> { Int(start(ofRelation: k))..<Int(ends[k]) }

  /// The ordinals that are as wanted, ascending.
  func ordinals(where isWanted: (Int32) -> Bool) -> ContiguousArray<Int32> {
    ContiguousArray((0..<Int32(truncatingIfNeeded: edges.count)).lazy.filter(isWanted))
  }

  /// The relation that has the ordinal.
  func relation(of ordinal: Int32) -> Int { ends.firstIndex { ordinal < $0 } ?? max(0, ends.count - 1) }

  /// Whether the same entities stand in the same places, in the same order.
  func isSame(_ schema: AnySchema, _ others: ContiguousArray<ChildEdge>, _ ends: ContiguousArray<Int32>) -> Bool {
    guard self.schema === schema, self.ends == ends, edges.count == others.count else { return false }
    for i in others.indices where others[i].child !== edges[i].child { return false }
    return true
  }

  /// The same; where order may say nothing, in any order. Only comparing the values tells whether it did.
  func isSameInAnyOrder(
    _ schema: AnySchema, _ others: ContiguousArray<ChildEdge>, _ ends: ContiguousArray<Int32>
  ) -> Bool {
    guard self.schema === schema, self.ends == ends, edges.count == others.count else { return false }
    for k in ends.indices {
      let range = range(ofRelation: k)
      if range.allSatisfy({ others[$0].child === edges[$0].child }) { continue }
      guard schema.orders[k] != .elements,
        Set(range.map { ObjectIdentifier(others[$0].child) }) == Set(range.map { ObjectIdentifier(edges[$0].child) })
      else { return false }
    }
    return true
  }
}
