@testable import Concord

/// Entities by number, and the edges between them: a graph without values that matter.
final class EdgeWorld {
  struct Hub: Identifiable, Sendable { let id: Int }
  struct Leaf: Identifiable, Sendable { let id: Int }

  let graph = Graph()
  /// What is the same for all: one relation, an array.
  let schema = AnySchema(
    orders: [.elements], canOmit: [.never], canAlwaysRemove: [true], mayDependOnEntities: false)
  private(set) var nodes: [Node?] = []

  /// Hubs come to contain hubs, and may contain leaves; leaves contain nothing.
  init(hubs: Int, leaves: Int = 0) {
    for _ in 0..<hubs { addHub() }
    for _ in 0..<leaves { add(Leaf(id: nodes.count)) }
  }

  deinit { graph.dismantle() }

  @discardableResult
  func addHub() -> Node { add(Hub(id: nodes.count)) }

  @discardableResult
  private func add<T: Identifiable & Sendable>(_ value: T) -> Node where T.ID == Int {
    let node = graph.table(T.self).insert(
      value, id: value.id, hash: IDHash.hash(value.id), known: nil, in: graph
    ).use { $0 }
    nodes.append(node)
    graph.unexamined.insert(node)
    return node
  }

  subscript(_ i: Int) -> Node? { nodes[i] }
  var living: [Int] { nodes.indices.filter { nodes[$0] != nil } }

  func setChildren(of i: Int, _ children: [Int]) {
    guard let node = nodes[i] else { return }
    let below = ContiguousArray(children.compactMap { nodes[$0].map { ChildEdge(child: $0) } })
    graph.setChildren(of: node, schema, below, [Int32(below.count)])
  }

  func children(of i: Int) -> [Int] {
    let edges = nodes[i]?.children?.edges ?? []
    return edges.compactMap { edge in nodes.firstIndex { $0 === edge.child } }
  }

  /// Forgets the nodes that were released.
  func forgetReleased() { for i in living where nodes[i]?.exists == false { nodes[i] = nil } }
}
