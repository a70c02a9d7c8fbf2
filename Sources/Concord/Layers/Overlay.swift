/// What the nodes that layers changed are in the base, in the order in which they were first changed. Taking all layers off means
/// to go back to these states, the last first.
struct Overlay {
  private(set) var states: ContiguousArray<SavedState> = []
  private var positions: [ObjectIdentifier: Int] = [:]

  /// What a node is in the base; `nil` if no layer changed it.
  func state(of node: Node) -> SavedState? { positions[ObjectIdentifier(node)].map { states[$0] } }

  /// Adds what the journal has of nodes from `mark` on, but for those that were only brought up to date: when what is below
  /// them goes back, they are brought up to date again.
  mutating func add(_ journal: Journal, since mark: Int, without released: Set<ObjectIdentifier>) {
    if !released.isEmpty {
      let left = states.filter { !released.contains(ObjectIdentifier($0.node)) }
      self = Overlay()
      for state in left { add(state) }
    }
    for (state, isWrite) in journal.firstStates(since: mark) where !released.contains(ObjectIdentifier(state.node)) {
      let node = state.node
      guard positions[ObjectIdentifier(node)] == nil else { continue }
      let isReshaped = state.children?.list !== node.children || state.component !== node.links?.component
      guard isWrite || isReshaped else { continue }
      add(state)
    }
  }

  private mutating func add(_ state: SavedState) {
    positions[ObjectIdentifier(state.node)] = states.count
    states.append(state)
  }
}
