/// The pending layers and what they changed, with a log of the changes that the open transaction made to these lists.
///
/// A part of a transaction that throws is undone by the log. So a savepoint costs nothing, however many layers there are.
struct LayerLists {
  /// The pending layers, from the lowest to the topmost.
  private(set) var pending = SlotList<LayerRecord>()
  private(set) var overlay = Overlay()
  private(set) var steps = LayerSteps()
  /// The layers that are not shown while writes go beneath the other layers, since they depend on the written nodes. They are
  /// replayed at the end.
  private(set) var takenOff: Set<ObjectIdentifier> = []
  /// The runs of the layers whose closures ran in the open transaction.
  private(set) var runs: [ObjectIdentifier: Run] = [:]
  /// The layers that ended in the open transaction.
  private(set) var ended: ContiguousArray<Ended> = []
  private var log: ContiguousArray<Change> = []

  typealias Ended = (record: LayerRecord, state: OptimisticLayer.State)

  /// One run of a layer's closure.
  struct Run {
    /// The nodes that it wrote.
    let written: ContiguousArray<Node>
    /// The nodes that the layer retains.
    let kept: ContiguousArray<Node>
  }

  /// A change, with what is needed to undo it.
  private enum Change {
    case appended(ObjectIdentifier)
    case removed(LayerRecord, position: Int)
    case removedState(SavedState, position: Int)
    case replacedState(SavedState)
    case removedAllStates(Overlay, LayerSteps)
    case addedStep(node: ObjectIdentifier)
    case tookStep(LayerSteps.Step, node: ObjectIdentifier)
    case tookLastStep(LayerSteps.Step, node: ObjectIdentifier)
    case removedSteps(LayerSteps.Steps, node: ObjectIdentifier)
    case tookOff(ObjectIdentifier)
    case forgotTakenOff(Set<ObjectIdentifier>)
    case ran(ObjectIdentifier, before: Run?)
    case forgotRuns([ObjectIdentifier: Run])
    case ended
  }

  // MARK: Changing

  mutating func append(_ record: LayerRecord) {
    let key = ObjectIdentifier(record)
    if pending.contains(key) { return }
    pending.append(record, key: key)
    log.append(.appended(key))
  }

  mutating func remove(_ record: LayerRecord) {
    guard let (record, position) = pending.remove(ObjectIdentifier(record)) else { return }
    log.append(.removed(record, position: position))
  }

  mutating func end(_ record: LayerRecord, as state: OptimisticLayer.State) {
    ended.append((record, state))
    log.append(.ended)
  }

  mutating func removeState(of node: ObjectIdentifier) {
    guard let (state, position) = overlay.remove(node) else { return }
    log.append(.removedState(state, position: position))
  }

  /// Replaces the base state of a node, which layers change as before.
  mutating func replaceState(by state: SavedState) {
    guard let (old, position) = overlay.remove(ObjectIdentifier(state.node)) else { return }
    overlay.restore(state, at: position)
    log.append(.replacedState(old))
  }

  /// Removes all states, since all layers are taken off.
  mutating func takeAllStates() -> Overlay {
    defer { (overlay, steps) = (Overlay(), LayerSteps()) }
    log.append(.removedAllStates(overlay, steps))
    return overlay
  }

  /// Takes all states, together with the journal's states from `mark` on.
  mutating func takeAllStates(with journal: Journal, since mark: Int, without released: Set<ObjectIdentifier>)
    -> Overlay
  {
    defer { (overlay, steps) = (Overlay(), LayerSteps()) }
    log.append(.removedAllStates(overlay, steps))
    var all = overlay
    all.add(journal, since: mark, without: released)
    return all
  }

  mutating func addStep(_ record: ObjectIdentifier, before state: SavedState) {
    let node = ObjectIdentifier(state.node)
    steps.append(LayerSteps.Step(record: record, before: state), of: node)
    log.append(.addedStep(node: node))
  }

  /// Removes the lowest layer's step of a node.
  mutating func takeFirstStep(of node: ObjectIdentifier) {
    if let step = steps.takeFirst(of: node) { log.append(.tookStep(step, node: node)) }
  }

  /// Removes the topmost layer's step of a node.
  mutating func takeLastStep(of node: ObjectIdentifier) {
    if let step = steps.removeLast(of: node) { log.append(.tookLastStep(step, node: node)) }
  }

  mutating func removeSteps(of node: ObjectIdentifier) {
    guard let removed = steps[node] else { return }
    steps[node] = nil
    log.append(.removedSteps(removed, node: node))
  }

  mutating func takeOff(_ records: Set<ObjectIdentifier>) {
    for record in records where takenOff.insert(record).inserted { log.append(.tookOff(record)) }
  }

  mutating func didRun(_ record: ObjectIdentifier, _ run: Run) {
    log.append(.ran(record, before: runs.updateValue(run, forKey: record)))
  }

  /// Forgets which layers ran, and which are not shown, since all are taken off.
  mutating func forgetRuns() {
    if !takenOff.isEmpty { log.append(.forgotTakenOff(takenOff)) }
    if !runs.isEmpty { log.append(.forgotRuns(runs)) }
    (takenOff, runs) = ([], [:])
  }

  // MARK: Undoing

  var savepoint: Int { log.count }

  /// Undoes the changes since a savepoint.
  ///
  /// - Returns: the layers that ran since.
  mutating func undo(to savepoint: Int) -> Set<ObjectIdentifier> {
    var ran: Set<ObjectIdentifier> = []
    while log.count > savepoint, let change = log.popLast() {
      if case .ran(let record, _) = change { ran.insert(record) }
      undo(change)
    }
    return ran
  }

  private mutating func undo(_ change: Change) {
    switch change {
    case .appended(let record): pending.remove(record)
    case .removed(let record, let position): pending.restore(record, key: ObjectIdentifier(record), at: position)
    case .removedState(let state, let position): overlay.restore(state, at: position)
    case .replacedState(let state):
      if let position = overlay.remove(ObjectIdentifier(state.node))?.position { overlay.restore(state, at: position) }
    case .removedAllStates(let overlay, let steps): (self.overlay, self.steps) = (overlay, steps)
    case .addedStep(let node): steps.removeLast(of: node)
    case .tookStep(let step, let node): steps.putBack(step, of: node)
    case .tookLastStep(let step, let node): steps.append(step, of: node)
    case .removedSteps(let removed, let node): steps[node] = removed
    case .tookOff(let record): takenOff.remove(record)
    case .forgotTakenOff(let records): takenOff = records
    case .ran(let record, let before): runs[record] = before
    case .forgotRuns(let runs): self.runs = runs
    case .ended: ended.removeLast()
    }
  }

  // MARK: The end of a transaction

  /// The nodes whose states were removed from the overlay in the open transaction. They may be there again.
  var uncovered: ContiguousArray<Node> {
    var nodes: ContiguousArray<Node> = []
    for change in log {
      switch change {
      case .removedState(let state, _): nodes.append(state.node)
      case .removedAllStates(let overlay, _): for state in overlay.states { nodes.append(state.node) }
      default: break
      }
    }
    return nodes
  }

  /// Ends the open transaction, which cannot be undone any longer.
  mutating func finish() {
    log.removeAll(keepingCapacity: log.count < 1_024)
    (ended, takenOff, runs) = ([], [], [:])
    pending.closeGaps()
  }

  /// Adds the base states of the nodes that layers changed in the open transaction.
  mutating func addStates(_ journal: Journal, since mark: Int, without released: Set<ObjectIdentifier>) {
    overlay.add(journal, since: mark, without: released)
    for node in released { steps[node] = nil }
  }
}
