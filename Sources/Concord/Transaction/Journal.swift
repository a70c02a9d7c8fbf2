/// The states that nodes had before an open transaction first wrote them: to undo it, to let other threads read what was last
/// committed, and to know in the end what really changed.
///
/// A node's latest entry is at its `journalIndex`, and each entry knows the one before for the same node. So the committed
/// state is found without a search, and nothing has to be counted.
@usableFromInline final class Journal {
  @exclusivity(unchecked) private var entries: ContiguousArray<SavedState> = []
  private let backlog: Backlog
  /// Where the innermost savepoint begins.
  @exclusivity(unchecked) private var savepoint = 0
  /// Closures of this transaction may still run: a throw could undo what is written, and other threads could read.
  @exclusivity(unchecked) @usableFromInline private(set) var isRecording = false
  /// Somebody wants the old values of all that is written.
  @exclusivity(unchecked) private var isFollowed = false
  /// Counts writes, to know whether a closure made any.
  @exclusivity(unchecked) private(set) var writeCount: UInt64 = 0

  init(_ backlog: Backlog) { self.backlog = backlog }

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }

  func countWrite() { writeCount &+= 1 }

  /// Saves a node's state before it is written, if that may be needed.
  @inlinable @inline(__always) func willWrite(_ node: Node) { if isRecording { save(node, isWrite: true) } }

  /// Saves a node's value before what it shows of its children is brought up to date.
  func willRefresh(_ node: Node) { if isRecording, !entries.isEmpty { save(node, isWrite: false) } }

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

  /// A node's state before the writes since a savepoint; `nil` if there were none.
  func state(of node: Node, since start: Int) -> SavedState? {
    guard Int(node.journalIndex) >= start else { return nil }
    var state = entries[Int(node.journalIndex)]
    while Int(state.previous) >= start { state = entries[Int(state.previous)] }
    return state
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
  func takeSinceSavepoint() -> ReversedCollection<ContiguousArray<SavedState>> {
    let taken = ContiguousArray(entries[savepoint...])
    entries.removeSubrange(savepoint...)
    for state in taken.reversed() { state.node.journalIndex = state.previous }
    return taken.reversed()
  }

  /// The first state of each node written.
  var writtenStates: some Sequence<SavedState> { entries.lazy.filter { $0.previous < 0 } }

  /// Whether a node, or a later savepoint of it, was written and not only refreshed.
  func isWritten(_ node: Node) -> Bool {
    var index = node.journalIndex
    while index >= 0 {
      if entries[Int(index)].isWrite { return true }
      index = entries[Int(index)].previous
    }
    return false
  }

  /// No closure runs any longer. What it did not write needs not be saved.
  func pause() { if entries.isEmpty { isRecording = isFollowed } }

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
    savepoint = 0
    isRecording = isFollowed
  }
}
