/// What the nodes that layers changed are in the base, in the order in which they were first changed. Taking all layers off means
/// to go back to these states, the last first.
struct Overlay {
  private var list = SlotList<SavedState>()
  /// The nodes that contain something in the base.
  private var containers: Set<ObjectIdentifier> = []
  /// Some are of nodes that no layer wrote, and that got another shape by what was written below them.
  private(set) var hasReshaped = false

  var states: some BidirectionalCollection<SavedState> { list.elements }
  /// Those of nodes that contain something in the base, in any order.
  var statesOfContainers: some Sequence<SavedState> { containers.lazy.compactMap { list[$0] } }

  /// What a node is in the base; `nil` if no layer changed it.
  func state(of node: Node) -> SavedState? { list[ObjectIdentifier(node)] }

  func state(of node: ObjectIdentifier) -> SavedState? { list[node] }

  /// The node is in the base what it is shown as.
  mutating func remove(_ node: ObjectIdentifier) {
    list.remove(node)
    containers.remove(node)
  }

  /// Adds what the journal has of nodes from `mark` on, but for those that were only brought up to date: when what is below
  /// them goes back, they are brought up to date again.
  mutating func add(_ journal: Journal, since mark: Int, without released: Set<ObjectIdentifier>) {
    for node in released { remove(node) }
    for (state, isWrite) in journal.firstStates(since: mark) where !released.contains(ObjectIdentifier(state.node)) {
      let node = state.node
      guard !list.contains(ObjectIdentifier(node)) else { continue }
      let isReshaped = state.children?.list !== node.children || state.component !== node.links?.component
      guard isWrite || isReshaped else { continue }
      if !isWrite { hasReshaped = true }
      // It may have been saved first when it was only brought up to date, and written afterwards.
      state.isWrite = isWrite
      list.append(state, key: ObjectIdentifier(node))
      if state.children != nil { containers.insert(ObjectIdentifier(node)) }
    }
  }
}
