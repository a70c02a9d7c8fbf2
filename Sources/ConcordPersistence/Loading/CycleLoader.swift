import ConcordModel

/// A loader of the rows of entities whose types may contain themselves, which finds their cycles: the strongly connected
/// components, by Tarjan's algorithm ("Depth-First Search and Linear Graph Algorithms", 1972), with a stack of its own
/// instead of recursion.
final class CycleLoader {
  private let reading: any RowReading
  private let model: Model
  private var nodes: [EntityKey: Node] = [:]
  private var membersByComponent: [[EntityKey]] = []

  private struct Node {
    let row: StoredRow
    let children: [EntityKey]
    /// The number of the node's component; `nil` until it is known.
    var component: Int?
    var lowest: Int
    var nextChild = 0
  }

  init(reading: any RowReading, model: Model) {
    self.reading = reading
    self.model = model
  }

  func row(of key: EntityKey) -> StoredRow? { nodes[key]?.row }
  func component(of key: EntityKey) -> Int? { nodes[key]?.component }
  /// The members of the cycles found so far.
  var cycles: [[EntityKey]] { membersByComponent.filter { $0.count > 1 } }
  func members(of component: Int) -> [EntityKey] { membersByComponent[component] }

  /// Reads all reachable rows that were not read before, and returns the new components: each after those that it leads to.
  func load(_ start: EntityKey) throws -> Range<Int> {
    let firstNew = membersByComponent.count
    guard nodes[start] == nil, try enter(start, order: 0) else { return firstNew..<firstNew }
    var order = 1
    /// The nodes on the path from the start to the current one.
    var path = [start]
    /// The nodes whose component is not known yet.
    var open = [start]
    var orders = [start: 0]
    while let key = path.last, let node = nodes[key] {
      if node.nextChild < node.children.count {
        nodes[key]?.nextChild += 1
        let child = node.children[node.nextChild]
        if let known = nodes[child] {
          if known.component == nil, let childOrder = orders[child] { lower(key, to: childOrder) }
        } else if try enter(child, order: order) {
          orders[child] = order
          order += 1
          path.append(child)
          open.append(child)
        }
      } else {
        path.removeLast()
        if let parent = path.last { lower(parent, to: node.lowest) }
        if node.lowest == orders[key] { close(key, &open) }
      }
    }
    return firstNew..<membersByComponent.count
  }

  private func enter(_ key: EntityKey, order: Int) throws -> Bool {
    guard let row = try reading.row(of: key) else { return false }
    let children = key.entity.referencedKeys(of: row, in: model).filter { model.isRecursive($0.entity) }
    nodes[key] = Node(row: row, children: Array(children), component: nil, lowest: order)
    return true
  }

  private func lower(_ key: EntityKey, to order: Int) {
    if let lowest = nodes[key]?.lowest, order < lowest { nodes[key]?.lowest = order }
  }

  private func close(_ key: EntityKey, _ open: inout [EntityKey]) {
    var members: [EntityKey] = []
    while let member = open.popLast() {
      nodes[member]?.component = membersByComponent.count
      members.append(member)
      if member == key { break }
    }
    membersByComponent.append(members)
  }
}
