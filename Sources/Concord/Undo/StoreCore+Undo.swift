// What a transaction changed is read from its journal before it ends, so that transactions which nobody records cost nothing.
extension StoreCore {
  /// Returns what was changed since an entry of the journal, in the order of the first writes. The base is exposed.
  func undoableChanges(since mark: Int) -> [AnyUndoChange] {
    completeWrites()
    return graph.journal.firstStates(since: mark).compactMap { state, isWrite in
      let node = state.node
      guard isWrite, !node.table.isInternal || node is any AliasNode, let sample = node.table.entity(of: node) else {
        return nil
      }
      return undoableChange(of: node, from: state, like: sample)
    }
  }

  private func undoableChange<T: Identifiable & Sendable>(
    of node: Node, from state: SavedState, like sample: T
  ) -> AnyUndoChange? {
    let isAlias = node.table.isInternal
    let existed = state.flags.contains(.exists) && (!isAlias || state.flags.contains(.registered))
    guard existed || node.isStoredOrNamed, !isMissing(sample.id), let node = node.typed(T.self) else { return nil }
    if existed, node.isStoredOrNamed, !node.differs(from: state, graph) { return nil }
    if node.exists { refresh(node) }
    let old = existed ? state.typed(T.self)?.value.map { upToDate($0, of: node) } : nil
    let new = node.isStoredOrNamed ? node.value : nil
    if let old, let new, !PropertyReversal.differ(old, new) { return nil }
    return old == nil && new == nil ? nil : UndoChange(sample.id, old: old, new: new)
  }

  /// Returns a value of an entity in which the entities that are stored are as they are now; all others are as in the value.
  func upToDate<T: Identifiable & Sendable>(_ value: T, of node: EntityNode<T>) -> T {
    let table = graph.table(T.self)
    guard table.isAggregate, let schema = table.schema(of: value) else { return value }
    for k in schema.indices {
      for case let child? in visitor.identify({ schema[k].visit(value, visitor) }) where child.exists { refresh(child) }
    }
    var value = value
    table.patchAll(&value, of: node, schema, refresher, visitor)
    return value
  }

  /// Whether a value has some entities directly inside, each as often as another value has it.
  func has<T: Identifiable & Sendable>(_ value: T, allOf nodes: Set<ObjectIdentifier>, in other: T) -> Bool {
    func found(_ value: T) -> [ObjectIdentifier: Int] {
      guard let schema = graph.table(T.self).schema(of: value) else { return [:] }
      var found: [ObjectIdentifier: Int] = [:]
      for k in schema.indices {
        for case let child? in visitor.identify({ schema[k].visit(value, visitor) })
        where nodes.contains(ObjectIdentifier(child)) {
          found[ObjectIdentifier(child), default: 0] += 1
        }
      }
      return found
    }
    let present = found(value)
    return found(other).allSatisfy { present[$0, default: 0] >= $1 }
  }

  /// Returns the entities directly inside a value that are not stored, as they are in it.
  func missingEntities<T: Identifiable & Sendable>(in value: T) -> [any Identifiable & Sendable] {
    guard let schema = graph.table(T.self).schema(of: value) else { return [] }
    let occurrences = visitor.occurrences
    (occurrences.parent, occurrences.level) = (-1, 0)
    visitor.purpose = .collect
    for k in schema.indices { schema[k].visit(value, visitor) }
    visitor.purpose = .identify
    defer { occurrences.removeAll() }
    return occurrences.items.compactMap { $0.node.exists ? nil : $0.node.table.entity(pending: $0.pending) }
  }

  /// Returns the changes of two lists, one after the other, in one list; `nil` if other writes lie between them.
  func joined(_ changes: [any UndoableChange], _ later: [any UndoableChange]) -> [AnyUndoChange]? {
    var joined = changes.compactMap { $0 as? AnyUndoChange }
    var places: [UndoKey: Int] = [:]
    for (index, change) in joined.enumerated() { places[change.key] = index }
    var gone: Set<Int> = []
    for case let change as AnyUndoChange in later {
      guard let place = places[change.key] else {
        joined.append(change)
        continue
      }
      switch joined[place].joined(change, self) {
      case .change(let both): joined[place] = both
      case .nothing: gone.insert(place)
      case nil: return nil
      }
    }
    return gone.isEmpty ? joined : joined.indices.filter { !gone.contains($0) }.map { joined[$0] }
  }
}

// MARK: Recording

/// The beginning of writes whose old values are read from the journal afterwards. It is a savepoint, so that the state of each node is
/// saved anew before the first of them.
struct StepBeginning {
  private let journal: Journal
  private let outer: Int
  let position: Int

  init(_ journal: Journal) {
    self.journal = journal
    outer = journal.begin()
    position = journal.count
  }

  func end() { journal.end(outer) }
}

extension StoreCore {
  /// Begins to record a step. Returns where it begins; `nil` if the transaction is a part of a step that is being recorded, or of a
  /// layer, whose closure is called again and again. The base is exposed.
  func beginStep() -> StepBeginning? {
    guard layers.running == nil, !isRecordingStep else { return nil }
    isRecordingStep = true
    return StepBeginning(graph.journal)
  }

  /// Adds what was changed to the steps. A step recorded within a transaction is added when that ends, unless it throws.
  func endStep(_ step: UndoStep, since start: StepBeginning, in steps: UndoSteps, isNested: Bool) {
    isRecordingStep = false
    let changes = undoableChanges(since: start.position)
    start.end()
    if changes.isEmpty { return }
    var step = step
    step.parts = [changes]
    // Now, since the base is exposed, and nobody else adds a step before the commit.
    let pending = PendingStep(step, behind: pendingSteps.last, steps.last) { earlier, later in
      // More are a list of their own: what is joined costs what it is joined to.
      guard let last = earlier.last, let new = later.first, last.count <= max(Self.mostJoined, 2 * new.count),
        let joined = self.joined(last, new)
      else {
        return earlier + later
      }
      return earlier.dropLast() + (joined.isEmpty ? [] : [joined])
    }
    guard isNested else {
      pending.add(to: steps)
      // Whoever follows from now on is told of the present state.
      if steps.isFollowed { log.appendEnd { steps.tell() } }
      return
    }
    pendingSteps.append(pending)
    // Also lets the transaction commit if nobody has to be notified of it.
    log.appendEnd { steps.tell() }
  }

  /// Adds the steps that were recorded within the transaction. It ends, and the lock is still held, so that they stand before those of the
  /// next transaction.
  func addPendingSteps() {
    if pendingSteps.isEmpty { return }
    let pending = pendingSteps
    pendingSteps = []
    guard let undoSteps else { return }
    for step in pending { step.add(to: undoSteps) }
  }

  /// The number of changes to which further ones are joined, however few: joining costs the changes of both.
  private static var mostJoined: Int { 64 }

  /// Removes the steps of a part of the transaction that is undone. A group that has ended stays so.
  func removePendingSteps(to count: Int) {
    guard pendingSteps.count > count else { return }
    // Values are released when the list is no longer accessed, since they may run code of their own.
    let gone = Array(pendingSteps[count...])
    pendingSteps.removeLast(gone.count)
    if gone.contains(where: \.endsGroup), !endPendingGroup() { undoSteps?.endGroup() }
  }

  /// Ends the group of the last step that was recorded within the transaction. Returns whether there is one.
  func endPendingGroup() -> Bool {
    if pendingSteps.isEmpty { return false }
    pendingSteps[pendingSteps.count - 1].endsGroup = true
    return true
  }

  /// Undoes or redoes a step. The transaction is the outermost.
  ///
  /// - Returns: what was left as it is, and what takes back what was done.
  func revertStep(_ step: UndoStep) -> (conflicts: [UndoConflict], inverse: UndoStep) {
    let start = StepBeginning(graph.journal)
    let reversal = UndoReversal(self)
    for part in step.parts.reversed() { reversal.revert(part) }
    var inverse = step
    // What was done counts, and not what was to be done: a conflict stays as it is when the step is done again.
    let changes = undoableChanges(since: start.position)
    start.end()
    inverse.parts = changes.isEmpty ? [] : [changes]
    return (reversal.conflicts, inverse)
  }
}
