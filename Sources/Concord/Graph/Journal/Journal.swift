/// The states that nodes had before an open transaction first wrote them: to undo it, to let other threads read what was last
/// committed, and to know in the end what really changed.
///
/// A node's latest entry is at its `journalIndex`, and each entry knows the one before for the same node. So the committed
/// state is found without a search, and nothing has to be counted.
@usableFromInline final class Journal {
  @exclusivity(unchecked) private var entries: ContiguousArray<SavedState> = []
  /// Nodes that were up to date until the open transaction changed what is below them, and how many states it had saved then.
  @exclusivity(unchecked) private var invalidated: ContiguousArray<(node: Node, position: Int)> = []
  private let backlog: Backlog
  /// Where the innermost savepoint begins.
  @exclusivity(unchecked) private var savepoint = 0
  /// Closures of this transaction may still run: a throw could undo what is written, and other threads could read.
  @exclusivity(unchecked) @usableFromInline private(set) var isRecording = false
  /// Somebody wants the old values of all that is written.
  @exclusivity(unchecked) private var isFollowed = false { didSet { alwaysRecords = isFollowed || isLayered } }
  /// There are layers, which are put above states that have to be known.
  @exclusivity(unchecked) var isLayered = false {
    didSet {
      alwaysRecords = isFollowed || isLayered
      if isLayered { isRecording = true }
    }
  }
  /// States are saved also where no closure runs.
  @exclusivity(unchecked) private var alwaysRecords = false
  /// Counts writes, to know whether a closure made any.
  @exclusivity(unchecked) private(set) var writeCount: UInt64 = 0

  init(_ backlog: Backlog) { self.backlog = backlog }

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }

  func countWrite() { writeCount &+= 1 }

  /// Saves a node's state before it is written, if that may be needed.
  @inlinable @inline(__always) func willWrite(_ node: Node) { if isRecording { save(node, isWrite: true) } }

  /// Saves a node's value before what it shows of its children is brought up to date.
  ///
  /// - Parameter mayReshape: other places may be written, too. Layers take that back, also where somebody only reads.
  func willRefresh(_ node: Node, mayReshape: Bool = false) {
    if isRecording, !entries.isEmpty || mayReshape && isLayered { save(node, isWrite: false) }
  }

  /// A node that is up to date is about to show something old.
  func willInvalidate(_ node: Node) {
    // What is refreshed before the first write is not saved, and so not undone.
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
    node.journalIndex = Int32(truncatingIfNeeded: entries.count)
    entries.append(state)
    backlog.add()
    // The first time in this transaction.
    if state.previous < 0 { node.flags.remove(.written) }
  }

  /// The state of a node before the open transaction first wrote it; `nil` if it did not.
  func committedState(of node: Node) -> SavedState? {
    guard node.journalIndex >= 0 else { return nil }
    var state = entries[Int(node.journalIndex)]
    while state.previous >= 0 { state = entries[Int(state.previous)] }
    return state
  }

  /// Whether an entity that exists now existed when the transaction began.
  func existed(_ node: Node) -> Bool { committedState(of: node)?.flags.contains(.exists) ?? true }

  // MARK: Since a mark

  /// A node's first state from an entry on, whatever came before; `nil` if there is none.
  func firstState(of node: Node, since mark: Int) -> SavedState? {
    guard Int(node.journalIndex) >= mark else { return nil }
    var state = entries[Int(node.journalIndex)]
    while Int(state.previous) >= mark { state = entries[Int(state.previous)] }
    return state
  }

  /// The first state of each node from an entry on, and whether the node was written since.
  func firstStates(since mark: Int) -> [(state: SavedState, isWrite: Bool)] {
    var found: [(state: SavedState, isWrite: Bool)] = []
    var positions: [Int: Int] = [:]
    for (index, state) in entries[mark...].enumerated() {
      let previous = Int(state.previous)
      if previous < mark {
        positions[mark + index] = found.count
        found.append((state, state.isWrite))
      } else if let position = positions[previous] {
        positions[mark + index] = position
        if state.isWrite { found[position].isWrite = true }
      }
    }
    return found
  }

  /// The entities written from an entry on, each once, but for the store's own.
  func writtenNodes(since mark: Int) -> ContiguousArray<Node> {
    ContiguousArray(
      firstStates(since: mark).lazy.filter { $0.isWrite && !$0.state.node.table.isInternal }.map(\.state.node))
  }

  // MARK: Savepoints

  /// From now on states are saved. Gives the savepoint to go back to.
  func begin() -> Int {
    isRecording = true
    defer { savepoint = entries.count }
    return savepoint
  }

  /// Goes on with the savepoint that was in force before.
  func end(_ outer: Int) {
    savepoint = outer
    // Recording is to cease.
    backlog.add()
  }

  /// The states saved since the innermost savepoint, the latest first; they are forgotten.
  private func takeSinceSavepoint() -> ReversedCollection<ContiguousArray<SavedState>> {
    let taken = ContiguousArray(entries[savepoint...])
    entries.removeSubrange(savepoint...)
    for state in taken.reversed() { state.node.journalIndex = state.previous }
    return taken.reversed()
  }

  /// Undoes what was done since the innermost savepoint: `restore` brings back one state, the latest comes first. Gives the nodes
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

  /// Where the first state of a node since the innermost savepoint is; behind all others if there is none.
  private func firstIndex(of node: Node) -> Int {
    var index = Int(node.journalIndex)
    guard index >= savepoint else { return .max }
    while Int(entries[index].previous) >= savepoint { index = Int(entries[index].previous) }
    return index
  }

  /// The first state of each node written.
  var writtenStates: some Sequence<SavedState> { entries.lazy.filter { $0.previous < 0 } }

  /// Whether any of a node's saved states was saved because it was written, not only brought up to date.
  func isWritten(_ node: Node) -> Bool {
    var index = node.journalIndex
    while index >= 0 {
      if entries[Int(index)].isWrite { return true }
      index = entries[Int(index)].previous
    }
    return false
  }

  /// No closure runs any longer. What it did not write needs not be saved.
  func pause() { if entries.isEmpty { isRecording = alwaysRecords } }

  /// Somebody begins or ceases to want the old values of all that is written.
  func follow(_ isFollowed: Bool) {
    self.isFollowed = isFollowed
    // What is recorded for an open transaction goes on being so; the end of it sees to the rest.
    if isFollowed { isRecording = true }
  }

  /// Nothing can be undone any longer.
  func commit() {
    for state in entries { state.node.journalIndex = -1 }
    entries.removeAll(keepingCapacity: true)
    // Also what was undone took room.
    entries.shrink(beyond: 4_096)
    invalidated.removeAll(keepingCapacity: invalidated.count < 1_024)
    savepoint = 0
    isRecording = alwaysRecords
  }
}
