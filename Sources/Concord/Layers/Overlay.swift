/// The base states of the nodes that layers changed, in the order of their first changes. Taking all layers off restores
/// these states, the last first.
struct Overlay {
  private var list = SlotList<SavedState>()
  /// The nodes that contain entities in the base.
  private var containers: Set<ObjectIdentifier> = []
  /// Whether some states are of nodes that no layer wrote, and whose relations changed with entities inside them.
  private(set) var hasReshaped = false
  /// The number of nodes of each type of values.
  private(set) var counts: [ObjectIdentifier: Int] = [:]

  var count: Int { list.count }
  var states: some BidirectionalCollection<SavedState> { list.elements }
  /// The states of nodes that contain entities in the base, in any order.
  var statesOfContainers: some Sequence<SavedState> { containers.lazy.compactMap { list[$0] } }

  /// Returns the base state of a node; `nil` if no layer changed the node.
  func state(of node: Node) -> SavedState? { list[ObjectIdentifier(node)] }

  func state(of node: ObjectIdentifier) -> SavedState? { list[node] }

  /// Returns the states of several nodes, in the order of their first changes.
  func states(of nodes: some Sequence<ObjectIdentifier>) -> [SavedState] { list.elements(of: nodes) }

  /// Removes the state of a node whose base state is the shown one.
  ///
  /// - Returns: the state and its position; `nil` if there is none.
  @discardableResult
  mutating func remove(_ node: ObjectIdentifier) -> (element: SavedState, position: Int)? {
    containers.remove(node)
    guard let removed = list.remove(node) else { return nil }
    count(removed.element.node, by: -1)
    return removed
  }

  private mutating func count(_ node: Node, by change: Int) {
    let type = node.table.valueType
    let count = counts[type, default: 0] + change
    counts[type] = count == 0 ? nil : count
  }

  /// Inserts a state where it was removed.
  mutating func restore(_ state: SavedState, at position: Int) {
    list.restore(state, key: ObjectIdentifier(state.node), at: position)
    count(state.node, by: 1)
    if state.children != nil { containers.insert(ObjectIdentifier(state.node)) }
  }

  /// Adds the journal's states from `mark` on, except for those of nodes that were only brought up to date: when the entities
  /// inside them are restored, they are brought up to date again.
  mutating func add(_ journal: Journal, since mark: Int, without released: Set<ObjectIdentifier>) {
    for node in released { remove(node) }
    for (state, isWrite) in journal.firstStates(since: mark) where !released.contains(ObjectIdentifier(state.node)) {
      let node = state.node
      guard !list.contains(ObjectIdentifier(node)) else { continue }
      let isReshaped = state.children?.list !== node.children || state.component !== node.links?.component
      guard isWrite || isReshaped else { continue }
      if !isWrite { hasReshaped = true }
      // The node may have been saved when it was brought up to date, and written afterwards.
      state.isWrite = isWrite
      list.append(state, key: ObjectIdentifier(node))
      count(node, by: 1)
      if state.children != nil { containers.insert(ObjectIdentifier(node)) }
    }
    list.closeGaps()
  }
}
