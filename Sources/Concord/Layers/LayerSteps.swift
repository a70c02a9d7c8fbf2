/// The layers that changed each node, from the lowest to the topmost, with the state that the node had before each.
///
/// So the lowest of them can become a part of the base while the others stay shown: what it leaves behind is the state before
/// the next one.
struct LayerSteps {
  /// A layer's change of a node.
  struct Step {
    let record: ObjectIdentifier
    let before: SavedState
  }

  /// The steps of one node. The first of them go first.
  struct Steps {
    private var all: ContiguousArray<Step?> = []
    private var start = 0

    var isEmpty: Bool { start == all.count }
    var count: Int { all.count - start }
    var first: Step? { isEmpty ? nil : all[start] }
    var last: Step? { isEmpty ? nil : all[all.count - 1] }
    var second: Step? { start + 1 < all.count ? all[start + 1] : nil }

    mutating func append(_ step: Step) { all.append(step) }
    mutating func removeLast() -> Step? { isEmpty ? nil : all.removeLast() }

    mutating func takeFirst() -> Step? {
      guard !isEmpty else { return nil }
      let step = all[start].take()
      start += 1
      if start > 16, start * 2 > all.count {
        all.removeFirst(start)
        start = 0
      }
      return step
    }

    mutating func putBack(_ step: Step) {
      if start > 0 {
        start -= 1
        all[start] = step
      } else {
        all.insert(step, at: 0)
      }
    }
  }

  private var nodes: [ObjectIdentifier: Steps] = [:]

  subscript(node: ObjectIdentifier) -> Steps? {
    get { nodes[node] }
    set { nodes[node] = newValue }
  }

  mutating func append(_ step: Step, of node: ObjectIdentifier) { nodes[node, default: Steps()].append(step) }

  @discardableResult
  mutating func removeLast(of node: ObjectIdentifier) -> Step? { change(node) { $0.removeLast() } ?? nil }

  mutating func takeFirst(of node: ObjectIdentifier) -> Step? { change(node) { $0.takeFirst() } ?? nil }

  mutating func putBack(_ step: Step, of node: ObjectIdentifier) { nodes[node, default: Steps()].putBack(step) }

  /// In place: a copy would cost as much as there are steps.
  @discardableResult
  private mutating func change<R>(_ node: ObjectIdentifier, _ body: (inout Steps) -> R) -> R? {
    guard let index = nodes.index(forKey: node) else { return nil }
    let result = body(&nodes.values[index])
    if nodes.values[index].isEmpty { nodes.remove(at: index) }
    return result
  }
}
