/// What the nodes that layers changed are in the base, in the order in which they were first changed. Taking all layers off means
/// to go back to these states, the last first.
struct Overlay {
  var states: some BidirectionalCollection<SavedState> { slots.lazy.compactMap(\.self) }
  /// With gaps where states were removed.
  private var slots: ContiguousArray<SavedState?> = []
  private var positions: [ObjectIdentifier: Int] = [:]
  /// Some are of nodes that no layer wrote, and that got another shape by what was written below them.
  private(set) var hasReshaped = false

  /// What a node is in the base; `nil` if no layer changed it.
  func state(of node: Node) -> SavedState? { state(of: ObjectIdentifier(node)) }

  func state(of node: ObjectIdentifier) -> SavedState? { positions[node].flatMap { slots[$0] } }

  /// The node is in the base what it is shown as.
  mutating func remove(_ state: SavedState) {
    guard let position = positions.removeValue(forKey: ObjectIdentifier(state.node)) else { return }
    slots[position] = nil
    guard slots.count > 16, slots.count > positions.count * 2 else { return }
    let left = ContiguousArray(states)
    (slots, positions) = ([], [:])
    for state in left { add(state) }
  }

  /// Adds what the journal has of nodes from `mark` on, but for those that were only brought up to date: when what is below
  /// them goes back, they are brought up to date again.
  mutating func add(_ journal: Journal, since mark: Int, without released: Set<ObjectIdentifier>) {
    if !released.isEmpty {
      let left = ContiguousArray(states.filter { !released.contains(ObjectIdentifier($0.node)) })
      (slots, positions) = ([], [:])
      for state in left { add(state) }
    }
    for (state, isWrite) in journal.firstStates(since: mark) where !released.contains(ObjectIdentifier(state.node)) {
      let node = state.node
      guard positions[ObjectIdentifier(node)] == nil else { continue }
      let isReshaped = state.children?.list !== node.children || state.component !== node.links?.component
      guard isWrite || isReshaped else { continue }
      if !isWrite { hasReshaped = true }
      // It may have been saved first when it was only brought up to date, and written afterwards.
      state.isWrite = isWrite
      add(state)
    }
  }

  private mutating func add(_ state: SavedState) {
    positions[ObjectIdentifier(state.node)] = slots.count
    slots.append(state)
  }
}
