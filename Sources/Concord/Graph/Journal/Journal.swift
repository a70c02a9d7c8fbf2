/// The states that nodes had before the open transaction first wrote them: to undo it, to let other threads read the last
/// committed state, and to find out in the end what changed.
///
/// A node's latest entry is at its `journalIndex`, and each entry has the position of the previous one of the same node. So
/// the committed state is found without a search.
@usableFromInline final class Journal {
  @exclusivity(unchecked) private var entries: ContiguousArray<SavedState> = []
  /// The nodes that were up to date until the open transaction changed entities inside them, with the number of states saved
  /// then.
  @exclusivity(unchecked) private var invalidated: ContiguousArray<(node: Node, position: Int)> = []
  private let backlog: Backlog
  /// The position of the innermost savepoint.
  @exclusivity(unchecked) private var savepoint = 0
  /// Whether states are saved, because closures of the transaction may still run: a throw could undo writes, and other
  /// threads could read.
  @exclusivity(unchecked) @usableFromInline private(set) var isRecording = false
  /// Whether the old values of all written nodes are needed.
  @exclusivity(unchecked) private var isFollowed = false { didSet { alwaysRecords = isFollowed || isLayered } }
  /// Whether there are layers, whose base states have to be known.
  @exclusivity(unchecked) var isLayered = false {
    didSet {
      alwaysRecords = isFollowed || isLayered
      if isLayered { isRecording = true }
    }
  }
  /// Whether states are saved also while no closure runs.
  @exclusivity(unchecked) private var alwaysRecords = false
  /// The number of writes, by which a closure's writes are noticed.
  @exclusivity(unchecked) private(set) var writeCount: UInt64 = 0

  init(_ backlog: Backlog) { self.backlog = backlog }

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }

  func countWrite() { writeCount &+= 1 }

  /// Saves a node's state before it is written, if that may be needed.
  @inlinable @inline(__always) func willWrite(_ node: Node) { if isRecording { save(node, isWrite: true) } }

  /// Saves a node's value before the children in it are brought up to date.
  ///
  /// - Parameter mayReshape: whether other places may be written, too. Layers undo that, also after a read.
  func willRefresh(_ node: Node, mayReshape: Bool = false) {
    if isRecording, !entries.isEmpty || mayReshape && isLayered { save(node, isWrite: false) }
  }

  /// Notes that a node which is up to date is about to become stale.
  func willInvalidate(_ node: Node) {
    // A refresh before the first write is not saved, and so not undone.
    if isRecording, !entries.isEmpty { invalidated.append((node, entries.count)) }
  }

  @usableFromInline func save(_ node: Node, isWrite: Bool) {
    if Int(node.journalIndex) >= savepoint {
      if isWrite { entries[Int(node.journalIndex)].isWrite = true }
      return
    }
    let state = node.table.save(node)
    state.previous = node.journalIndex
    state.isWrite = isWrite
    if isLayered { state.keepForLayers() }
    node.journalIndex = Int32(truncatingIfNeeded: entries.count)
    entries.append(state)
    backlog.add()
    // The first time in this transaction.
    if state.previous < 0 { node.flags.remove(.written) }
  }

  /// Returns the state of a node before the open transaction first wrote it; `nil` if it did not.
  func committedState(of node: Node) -> SavedState? {
    guard node.journalIndex >= 0 else { return nil }
    var state = entries[Int(node.journalIndex)]
    while state.previous >= 0 { state = entries[Int(state.previous)] }
    return state
  }

  /// Whether an entity that exists now existed when the transaction began.
  func existed(_ node: Node) -> Bool { committedState(of: node)?.flags.contains(.exists) ?? true }

  // MARK: Since a mark

  /// Returns a node's first state from an entry on; `nil` if there is none.
  func firstState(of node: Node, since mark: Int) -> SavedState? {
    guard Int(node.journalIndex) >= mark else { return nil }
    var state = entries[Int(node.journalIndex)]
    while Int(state.previous) >= mark { state = entries[Int(state.previous)] }
    return state
  }

  /// Returns the first state of each node from an entry on, and whether the node was written since.
  func firstStates(since mark: Int) -> [(state: SavedState, isWrite: Bool)] {
    var found: [(state: SavedState, isWrite: Bool)] = []
    // For each entry, where its node is among those found.
    var positions: [Int] = []
    positions.reserveCapacity(entries.count - mark)
    for state in entries[mark...] {
      let previous = Int(state.previous)
      if previous < mark {
        positions.append(found.count)
        found.append((state, state.isWrite))
      } else {
        let position = positions[previous - mark]
        positions.append(position)
        if state.isWrite { found[position].isWrite = true }
      }
    }
    return found
  }

  /// Returns the entities written from an entry on, each once, without internal ones.
  func writtenNodes(since mark: Int) -> ContiguousArray<Node> {
    ContiguousArray(
      firstStates(since: mark).lazy.filter { $0.isWrite && !$0.state.node.table.isInternal }.map(\.state.node))
  }

  // MARK: Savepoints

  /// Begins a savepoint, from which on states are saved. Returns the outer savepoint.
  func begin() -> Int {
    isRecording = true
    defer { savepoint = entries.count }
    return savepoint
  }

  /// Ends the innermost savepoint, and restores the outer one.
  func end(_ outer: Int) {
    savepoint = outer
    // The end of recording is work for the end of the transaction.
    backlog.add()
  }

  /// Removes the states saved since the innermost savepoint, and returns them, the latest first.
  private func takeSinceSavepoint() -> ReversedCollection<ContiguousArray<SavedState>> {
    let taken = ContiguousArray(entries[savepoint...])
    entries.removeSubrange(savepoint...)
    for state in taken.reversed() { state.node.journalIndex = state.previous }
    return taken.reversed()
  }

  /// Undoes the changes since the innermost savepoint: calls `restore` with each state, the latest first. Returns the nodes
  /// that were up to date at the savepoint, and so are again.
  func undo(_ restore: (SavedState) -> Void) -> ContiguousArray<Node> {
    var upToDate: ContiguousArray<Node> = []
    while let (node, position) = invalidated.last, position > savepoint {
      invalidated.removeLast()
      if position <= firstIndex(of: node) { upToDate.append(node) }
    }
    for state in entries[savepoint...] where Int(state.previous) < savepoint && !state.flags.contains(.stale) {
      upToDate.append(state.node)
    }
    let count = invalidated.count
    for state in takeSinceSavepoint() { restore(state) }
    invalidated.removeSubrange(count...)
    return upToDate
  }

  /// Returns the position of a node's first state since the innermost savepoint; `.max` if there is none.
  private func firstIndex(of node: Node) -> Int {
    var index = Int(node.journalIndex)
    guard index >= savepoint else { return .max }
    while Int(entries[index].previous) >= savepoint { index = Int(entries[index].previous) }
    return index
  }

  /// The first state of each node.
  var writtenStates: some Sequence<SavedState> { entries.lazy.filter { $0.previous < 0 } }

  /// Whether any of a node's states was saved because the node was written, and not only brought up to date.
  func isWritten(_ node: Node) -> Bool {
    var index = node.journalIndex
    while index >= 0 {
      if entries[Int(index)].isWrite { return true }
      index = entries[Int(index)].previous
    }
    return false
  }

  /// Ends recording after a closure that wrote nothing.
  func pause() { if entries.isEmpty { isRecording = alwaysRecords } }

  /// Begins or ends recording the old values of all written nodes.
  func follow(_ isFollowed: Bool) {
    self.isFollowed = isFollowed
    // Recording for an open transaction continues until its end.
    if isFollowed { isRecording = true }
  }

  /// Discards all states, since nothing can be undone any longer.
  func commit() {
    for state in entries { state.node.journalIndex = -1 }
    entries.removeAll(keepingCapacity: true)
    // Undone parts took capacity, too.
    entries.shrink(beyond: 4_096)
    invalidated.removeAll(keepingCapacity: invalidated.count < 1_024)
    savepoint = 0
    isRecording = alwaysRecords
  }
}
