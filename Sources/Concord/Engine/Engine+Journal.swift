/// One node's state before it was first written after a savepoint.
@usableFromInline struct JournalEntry {
  @usableFromInline let node: Node
  @usableFromInline var state: NodeState
}

extension Engine {
  /// Notes a node's state before it is written, if user code of this transaction may still run: then a throw could undo
  /// it, and other threads could read.
  @inlinable @inline(__always) func journal(_ node: Node) {
    if depth > 0 || !journal.isEmpty || needsComparison { note(node) }
  }

  @usableFromInline func note(_ node: Node) {
    guard node.journalMark != savepoint else { return }
    if node.journalMark < transactionStart { node.flags.remove(.written) }
    journal.append(JournalEntry(node: node, state: node.captureState()))
    node.journalMark = savepoint
  }

  /// Runs a transaction's body; if it throws, undoes all that was done in it.
  @inlinable func transaction<R>(_ body: () throws -> R) rethrows -> R {
    try write {
      let start = journal.count
      newSavepoint()
      do {
        return try unlocked(body)
      } catch {
        rollBack(to: start)
        throw error
      }
    }
  }

  @usableFromInline func newSavepoint() {
    if savepoint == .max { resetSerials() }
    savepoint += 1
  }

  @usableFromInline func rollBack(to start: Int) {
    needsComparison = true
    while journal.count > start {
      let entry = journal.removeLast()
      _ = entry.node.exchange(entry.state)
    }
    // What is written from here on is to be noted anew.
    newSavepoint()
  }

  /// Goes back to the committed state, for another thread to read, or for an observer's first value.
  @usableFromInline func suspend() {
    guard !isSuspended, !journal.isEmpty else { return }
    needsComparison = true
    for i in journal.indices.reversed() { journal[i].state = journal[i].node.exchange(journal[i].state) }
    isSuspended = true
  }

  /// Goes forth again to where the transaction was.
  @usableFromInline func resume() {
    guard isSuspended else { return }
    for i in journal.indices { journal[i].state = journal[i].node.exchange(journal[i].state) }
    isSuspended = false
  }

  /// The nodes whose values differ from what they were before the transaction, and all above them.
  @usableFromInline func reallyChanged() -> Set<ObjectIdentifier> {
    var seen: Set<ObjectIdentifier> = []
    var changed: Set<ObjectIdentifier> = []
    var stack: [Node] = []
    for entry in journal where seen.insert(ObjectIdentifier(entry.node)).inserted {
      if entry.node.differs(from: entry.state), changed.insert(ObjectIdentifier(entry.node)).inserted {
        stack.append(entry.node)
      }
    }
    while let node = stack.popLast() {
      for i in 0..<node.parents.count {
        let parent = node.parents[i].parent
        if changed.insert(ObjectIdentifier(parent)).inserted { stack.append(parent) }
      }
    }
    return changed
  }
}
