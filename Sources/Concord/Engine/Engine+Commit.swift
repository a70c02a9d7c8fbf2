extension Engine {
  /// Ends the outermost operation: releases what nobody keeps, and notes for every observer concerned the value it is to
  /// be told. The lock is held.
  @usableFromInline func commit() {
    performPending()
    examineSuspects()
    if !candidates.isEmpty { noteValues() }
    if isFed { noteChanges() }
    guard !journal.isEmpty || needsComparison || !tainted.isEmpty else { return }
    journal.removeAll()
    needsComparison = false
    for node in tainted { node.flags.remove(.tainted) }
    tainted.removeAll()
  }

  @usableFromInline func noteValues() {
    let changed = journal.isEmpty && !needsComparison ? nil : reallyChanged()
    for i in candidates.indices {
      candidates[i].with { node in
        node.flags.remove(.candidate)
        if node.isDirty { refresh(node) }
        guard changed?.contains(ObjectIdentifier(node)) ?? true else { return }
        for j in node.subscribers.indices {
          Unmanaged.passUnretained(node.subscribers[j])._withUnsafeGuaranteedRef { $0.note() }
        }
      }
    }
    candidates.clear()
  }
}
