/// An occurrence in a parent: the child, and the index of this edge in the child's `parents`.
struct ChildEdge {
  let child: Node
  var backIndex: Int32 = -1
}

/// The occurrences in one entity's value, in the order in which its relations are visited. The position of an occurrence is
/// its ordinal. Edges are strong in both directions, so none leads to a freed node; they are removed when the entity is.
@usableFromInline final class ChildList {
  let schema: AnySchema
  @exclusivity(unchecked) var edges: ContiguousArray<ChildEdge>
  /// The end of each relation's occurrences.
  let ends: ContiguousArray<Int32>
  @exclusivity(unchecked) var stale = StaleSet()
  /// The ordinals that were stale since a value with this list was saved for layers; `nil` if none was.
  @exclusivity(unchecked) var formerlyStale: FormerlyStale?
  /// The cached brief form of the node's value, if making it calls the user's code.
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

  /// Whether relations can be omitted for which only trying tells, found when first needed.
  private var triedToOmit: [Int: Bool] = [:]

  /// Whether a relation of the node, whose children these are, can be omitted.
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

  /// Returns the ordinals that meet a condition, ascending.
  func ordinals(where isWanted: (Int32) -> Bool) -> ContiguousArray<Int32> {
    ContiguousArray((0..<Int32(truncatingIfNeeded: edges.count)).lazy.filter(isWanted))
  }

  /// Returns the relation that an ordinal belongs to.
  func relation(of ordinal: Int32) -> Int { ends.firstIndex { ordinal < $0 } ?? max(0, ends.count - 1) }

  /// Returns the entities that stand in this list and not in another one.
  func missing(in other: ChildList?) -> ContiguousArray<Node> {
    if other === self { return [] }
    let present = Set(other?.edges.lazy.map { ObjectIdentifier($0.child) } ?? [])
    return ContiguousArray(edges.lazy.map(\.child).filter { !present.contains(ObjectIdentifier($0)) })
  }

  /// Whether the list has the same entities in the same places, in the same order.
  func isSame(_ schema: AnySchema, _ others: ContiguousArray<ChildEdge>, _ ends: ContiguousArray<Int32>) -> Bool {
    guard self.schema === schema, self.ends == ends, edges.count == others.count else { return false }
    for i in others.indices where others[i].child !== edges[i].child { return false }
    return true
  }

  /// Whether the list has the same entities in the same places, in any order where the order may be irrelevant. Only
  /// comparing the values tells whether it is.
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
