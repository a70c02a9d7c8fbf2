/// The pending layers of a store, and the base beneath them.
///
/// Between transactions all layers are *shown*: nodes have the values that all closures make of the base, and `overlay` has
/// the base states of the nodes that they changed. A write to the base *exposes* it first: the overlay is restored, as a part
/// of the transaction. At the end of the outermost transaction the closures are replayed, and since the journal has the
/// committed states, observers are notified of the net change. Where a write is known to concern no layer, or only some, the
/// others are not replayed: see StoreCore+Beneath.
final class LayerStack {
  /// The state that a transaction which throws restores, beside the lists, whose changes it undoes.
  struct State {
    /// The savepoint of the lists.
    fileprivate var savepoint = 0
    /// The position of the journal's first state above the base; `nil` while the base is exposed.
    var mark: Int?
    /// The journal's savepoint before `mark`; `nil` if the layers were shown when the transaction began.
    var outer: Int?
    /// Whether a part of the transaction that began above the base is open. It may throw, and so what was written there before it
    /// can be taken off, but is not removed from the journal.
    fileprivate(set) var hasOpenPart = false
    /// Whether writes go beneath the layers while these are shown. There is no `mark` then.
    var isBeneath = false
    /// The extent of the log, of removals and of written nodes at `mark`.
    var writes = WriteSavepoint(logCount: 0, clearedCount: 0, removedCount: 0, writtenCount: 0, stepCount: 0)
    /// Whether the base was exposed in the open transaction, at whose end all closures are then replayed.
    var wasExposed = false
    /// The layers that closures asked to end, which is done when the closures have returned.
    var requests: ContiguousArray<(record: LayerRecord, ending: Ending)> = []
    /// The number of nodes that the transaction had written when the base was first exposed.
    fileprivate var writtenBefore = 0
    /// The number of nodes that the transaction had written when layers were last put above the base.
    fileprivate var writtenBelow = 0
  }

  /// The ways in which a layer ends.
  enum Ending { case committing, rollingBack }

  var state = State()
  /// The pending layers, and what they changed.
  var lists = LayerLists()
  /// Whether there are layers, or were in the open transaction.
  private(set) var isActive = false
  /// The layer whose closure is running.
  private(set) var running: LayerRecord?
  var missing: NothingToUpdate?
  /// The nodes on which the closures depend.
  private(set) var footprints = Footprints()
  private var trace = FootprintTrace()
  /// The layers made in the open transaction, also by parts of it that were undone.
  var made: ContiguousArray<LayerRecord> = []
  /// The layers of ``made`` whose changes are in the log already.
  private var logged: Set<ObjectIdentifier> = []

  /// The entities that each layer retains: those that it made, changed or removed, and those that it put into other entities. So what the
  /// base retains does not depend on what is shown, and no closure need be called when another holder of an entity goes.
  private var kept: [ObjectIdentifier: ContiguousArray<Node>] = [:]
  /// The entities that each layer changed, and that are shown.
  private var changed: [ObjectIdentifier: ContiguousArray<Node>] = [:]
  /// Entities of the base that are not shown and that nothing else retains. Their nodes stay in the table, so that they can
  /// be restored.
  private var shadows: ContiguousArray<Node> = []
  private var shadowIDs: Set<ObjectIdentifier> = []
  /// Whether somebody began to observe an entity that is not shown while a transaction was open, at whose end it is to be shown.
  var mustShowMore = false
  /// The entities that values in the base contain and shown values do not, with the number of these; known while it is needed.
  private var hidden: [ObjectIdentifier: Int]?
  /// The nodes whose values in the base are counted there.
  private var hiding: Set<ObjectIdentifier> = []
  /// The entities that neither the base nor the layers need any longer.
  private var released: Set<ObjectIdentifier> = []
  /// Entities that the base lost in the open transaction. Their nodes are kept until its end, since a closure may make them
  /// again.
  private var limbo: ContiguousArray<Node> = []
  /// Entities that were shown until the layer that had made them was taken off.
  private var takenOff: ContiguousArray<Node> = []
  /// Nodes whose base states were removed in the open transaction.
  private var uncovered: ContiguousArray<Node> = []
  /// Whether the base is complete, and entities that it does not need are being released.
  private var isSettling = false

  private let journal: Journal
  private let unexamined: NodeQueue
  private let written: WrittenNodes

  init(_ journal: Journal, _ unexamined: NodeQueue, _ written: WrittenNodes) {
    (self.journal, self.unexamined, self.written) = (journal, unexamined, written)
  }

  var isShown: Bool { state.mark != nil }

  /// The state to which a transaction that throws goes back; `nil` if there are no layers.
  var savepoint: State? {
    guard isActive else { return nil }
    var saved = state
    saved.savepoint = lists.savepoint
    return saved
  }

  /// Whether the changes that a closure makes are to be logged, which is done once.
  func logs(_ record: LayerRecord) -> Bool {
    made.contains { $0 === record } && !logged.contains(ObjectIdentifier(record))
  }

  func isPending(_ record: LayerRecord) -> Bool { lists.pending.contains(ObjectIdentifier(record)) }

  /// Whether the closure of an operation has made a layer.
  var wereEntered: Bool { isShown && running == nil }

  // MARK: The open transaction

  /// Prepares for the first layer. Inside a transaction, the current state is the base.
  func activate(isInTransaction: Bool) {
    guard !isActive else { return }
    isActive = true
    journal.isLayered = true
    (state, lists) = (State(), LayerLists())
    if isInTransaction { state.wasExposed = true } else { state.mark = 0 }
  }

  func begin(_ writes: WriteSavepoint) {
    state.writes = writes
    (state.writtenBefore, state.writtenBelow) = (0, 0)
  }

  /// Begins to write above the base.
  func enter(_ writes: WriteSavepoint) {
    state.writes = writes
    state.outer = journal.begin()
    (state.mark, state.isBeneath, state.hasOpenPart) = (journal.count, false, false)
    state.writtenBelow = written.count
  }

  /// Ends writing above the base, after the writes there have been undone.
  func leave() {
    if !state.hasOpenPart, let outer = state.outer { journal.end(outer) }
    (state.mark, state.outer, state.hasOpenPart) = (nil, nil, false)
    lists.forgetRuns()
  }

  /// Begins a part of the transaction, which may throw. Returns what ``endPart(_:)`` needs.
  func beginPart() -> Part {
    defer { if isShown { state.hasOpenPart = true } }
    return Part(mark: state.mark, wasOpen: state.hasOpenPart)
  }

  func endPart(_ part: Part) { if state.mark == part.mark { state.hasOpenPart = part.wasOpen } }

  struct Part {
    fileprivate let mark: Int?
    fileprivate let wasOpen: Bool
  }

  /// Takes the base states out of the lists, together with those of the nodes that were written above the base since.
  func takeAllStates() -> Overlay {
    guard let mark = state.mark, state.hasOpenPart else { return lists.takeAllStates() }
    for record in made where isPending(record) { logged.insert(ObjectIdentifier(record)) }
    return lists.takeAllStates(with: journal, since: mark, without: released)
  }

  /// Whether nothing was written above the base in the open transaction, nor was it exposed.
  var mayWriteBeneath: Bool { state.isBeneath || state.outer == nil && state.mark == journal.count }

  func goBeneath() { (state.mark, state.isBeneath, state.hasOpenPart) = (nil, true, false) }

  /// Ends writing beneath the layers: later writes are above the base again.
  func comeUp() {
    guard state.isBeneath else { return }
    // What was written beneath is saved anew before it is written above: the present state is its base.
    _ = journal.begin()
    (state.mark, state.isBeneath) = (journal.count, false)
  }

  /// Notes that the current state is the base.
  func didExpose() {
    if !state.wasExposed { state.writtenBefore = written.count }
    state.wasExposed = true
  }

  /// The position of the first write that projections have not seen.
  var firstUnprojected: Int { isShown ? state.writtenBelow : state.writtenBefore }

  /// Restores the state of a savepoint, after a transaction that threw.
  func goBack(to saved: State?) {
    guard isActive else { return }
    let ran = lists.undo(to: saved?.savepoint ?? 0)
    if saved?.wasExposed != state.wasExposed || ran.contains(where: lists.pending.contains) {
      // Closures of layers that stay have run, which is undone: their footprints are not valid.
      footprints.forget()
    } else {
      for record in ran { footprints.remove(record) }
    }
    state = saved ?? State()
    // There were no layers: the current state is the base.
    if saved == nil { state.wasExposed = true }
  }

  func run(_ record: LayerRecord) {
    running = record
    missing = nil
    trace = FootprintTrace()
  }

  func didRun() {
    running = nil
    missing = nil
  }

  // MARK: Footprints

  /// Adds a node that the running closure is about to write to its footprint; `nil` for an entity that is not stored.
  func willWrite(_ node: Node?) { if let node { trace.add(node) } }

  /// Ends tracing of the running closure, which does something that is not traced.
  func giveUpTracing() { trace.giveUp() }

  /// Sets the footprint of a closure that has run: the changed nodes, and the nodes inside them before and after.
  func didRun(_ record: LayerRecord, since start: Int) {
    var written: ContiguousArray<Node> = []
    var kept: ContiguousArray<Node> = []
    for (before, isWrite) in journal.firstStates(since: start) where isWrite {
      let node = before.node
      kept += node.children?.missing(in: before.children?.list) ?? []
      if node.table.isInternal { continue }
      written.append(node)
      if node.exists || before.flags.contains(.exists) { kept.append(node) }
      trace.add(node)
      for child in before.children?.list.missing(in: node.children) ?? [] { trace.add(child) }
      lists.addStep(ObjectIdentifier(record), before: before)
    }
    lists.didRun(ObjectIdentifier(record), LayerLists.Run(written: written, kept: kept))
    footprints.set(trace, of: ObjectIdentifier(record))
    trace = FootprintTrace()
  }

  /// Handles a closure that did not apply, which is called again with each write to the base, or dropped.
  func didFail(_ record: LayerRecord) {
    if record.waits {
      footprints.setUntraced(ObjectIdentifier(record))
    } else {
      footprints.remove(ObjectIdentifier(record))
    }
  }

  /// Returns the nodes on which a layer depends, and those that it changes: as last committed, or as shown now.
  func nodes(of record: LayerRecord, isShown: Bool = false) -> [ContiguousArray<ObjectIdentifier>?] {
    let id = ObjectIdentifier(record)
    let changed = isShown ? lists.runs[id]?.written.filter(\.exists) : changed[id]
    return [footprints.nodes(of: id), ContiguousArray((changed ?? []).map { ObjectIdentifier($0) })]
  }

  /// Whether a closure that has just run did nothing but what it did before, which is known from its footprint.
  func ranAsBefore(_ record: LayerRecord, since start: Int) -> Bool {
    guard let before = footprints.nodes(of: ObjectIdentifier(record)), let now = trace.nodes else { return false }
    let known = Set(before)
    let wholes = Set(footprints.wholes(of: ObjectIdentifier(record)).map { ObjectIdentifier($0) })
    return (now + journal.writtenNodes(since: start).map { ObjectIdentifier($0) }).allSatisfy(known.contains)
      && trace.wholes.allSatisfy { wholes.contains(ObjectIdentifier($0)) }
  }

  /// Returns the nodes that a layer changed when it last ran and that are shown.
  func nodesChanged(by record: LayerRecord) -> ContiguousArray<Node>? { changed[ObjectIdentifier(record)] }

  /// Returns the nodes that a layer changed; `nil` if its closure may have done anything else.
  func changedNodes(of record: LayerRecord) -> ContiguousArray<Node>? {
    guard !footprints.areOfAll, footprints.nodes(of: ObjectIdentifier(record)) != nil else { return nil }
    return changed[ObjectIdentifier(record)]
  }

  func didReplayAll() { footprints.didReplayAll() }

  /// Notes that a running closure asked a layer to end.
  func request(_ record: LayerRecord, _ ending: Ending) {
    guard isPending(record), !state.requests.contains(where: { $0.record === record }) else { return }
    state.requests.append((record, ending))
  }

  // MARK: What layers keep

  /// Whether there are entities of the base that are not shown.
  var hasShadows: Bool { !shadows.isEmpty }

  /// Whether a node without holders is to stay in its table: because the base has the entity and layers only hide it, or,
  /// until the transaction ends, because the base had the entity when the transaction began. `existed` tells whether the
  /// entity was stored until now.
  func keeps(_ node: Node, existed: Bool) -> Bool {
    guard !node.table.isOfHubs else { return false }
    if hides(node, existed: existed) { return true }
    // The node leaves its table: the next entity with its id has another node.
    if footprints.contains(node) { footprints.forget() }
    return false
  }

  private func hides(_ node: Node, existed: Bool) -> Bool {
    if isSettling {
      node.stamp = -.infinity
      limbo.append(node)
      return true
    }
    guard let mark = state.mark else { return false }
    // A node that no closure has touched has the same state in the base.
    let base = lists.overlay.state(of: node) ?? journal.firstState(of: node, since: mark)
    guard let base, base.flags.contains(.exists) else { return false }
    if existed, !base.flags.contains(.registered), !isHidden(node, mark) {
      // The base does not need the entity either.
      released.insert(ObjectIdentifier(node))
      stopHiding(base)
      return false
    }
    node.holders.add()
    shadows.append(node)
    shadowIDs.insert(ObjectIdentifier(node))
    hide(base)
    return true
  }

  /// Whether the base has an entity that is not shown, because nothing that is shown retains it.
  func isHidden(_ node: Node) -> Bool { shadowIDs.contains(ObjectIdentifier(node)) }

  private func takeShadows() -> ContiguousArray<Node> {
    defer { (shadows, shadowIDs) = ([], []) }
    return shadows
  }

  /// Whether an entity contains a node in the base, but not as it is shown.
  private func isHidden(_ node: Node, _ mark: Int) -> Bool {
    if hidden == nil {
      hidden = [:]
      func add(_ state: SavedState) { if !released.contains(ObjectIdentifier(state.node)) { hide(state) } }
      for state in lists.overlay.statesOfContainers { add(state) }
      for (state, _) in journal.firstStates(since: mark) where lists.overlay.state(of: state.node) == nil {
        // The node itself has just lost its children, since it is being released.
        if state.node !== node { add(state) }
      }
    }
    return hidden?[ObjectIdentifier(node)] != nil
  }

  private func hide(_ state: SavedState) {
    guard hidden != nil, let list = state.children?.list, list !== state.node.children,
      hiding.insert(ObjectIdentifier(state.node)).inserted
    else { return }
    for edge in list.edges { hidden?[ObjectIdentifier(edge.child), default: 0] += 1 }
  }

  /// Ends hiding what a node contains in the base, which has lost the node itself.
  private func stopHiding(_ state: SavedState) {
    guard hiding.remove(ObjectIdentifier(state.node)) != nil else { return }
    for edge in state.children?.list.edges ?? [] {
      let child = ObjectIdentifier(edge.child)
      if let count = hidden?[child] { hidden?[child] = count > 1 ? count - 1 : nil }
    }
  }

  /// Examines which entities the complete base needs. Hidden entities, and those of layers that have ended, are not retained
  /// any longer.
  func settle(_ examine: () -> Void) {
    for node in takeShadows() { release(node) }
    letGoOfEnded()
    isSettling = true
    examine()
    isSettling = false
  }

  private func letGoOfEnded() {
    for (record, _) in lists.ended {
      for node in kept.removeValue(forKey: ObjectIdentifier(record)) ?? [] { release(node) }
      changed[ObjectIdentifier(record)] = nil
    }
  }

  /// Releases entities that are in the base only because a layer retained them that does not need them any longer. Returns
  /// whether there were any.
  func letGoOfUntouched() -> Bool {
    var counts: [ObjectIdentifier: Int] = [:]
    for nodes in kept.values { for node in nodes { counts[ObjectIdentifier(node), default: 0] += 1 } }
    for run in lists.runs.values { for node in run.kept { counts[ObjectIdentifier(node)] = nil } }
    var hasLet = false
    for (id, nodes) in kept {
      func isLost(_ node: Node) -> Bool {
        guard node.exists, let count = counts[ObjectIdentifier(node)] else { return false }
        return Int(node.holders.count) <= count
      }
      let lost = nodes.filter(isLost)
      if lost.isEmpty { continue }
      kept[id] = ContiguousArray(nodes.filter { !isLost($0) })
      for node in lost { release(node) }
      hasLet = true
    }
    return hasLet
  }

  /// Lets each layer retain the entities that it changes, once all layers are shown.
  func hold() {
    for node in limbo { unexamined.insert(node) }
    limbo = []
    // Layers that ended are not among them.
    for (record, run) in lists.runs {
      for node in run.kept { node.holders.add() }
      for node in kept[record] ?? [] { release(node) }
      kept[record] = run.kept
      changed[record] = ContiguousArray(run.written.filter(\.exists))
    }
    letGoOfEnded()
    if lists.pending.isEmpty {
      for node in takeShadows() { release(node) }
    }
  }

  private func release(_ node: Node) {
    node.holders.remove()
    if node.holders.count == 0 { unexamined.insert(node) }
  }

  // MARK: Its end

  func didTakeOff(_ node: Node) { takenOff.append(node) }

  /// Ends the open transaction. Returns the layers that ended in it, and the nodes that are not shown any longer.
  func finish() -> (
    ended: ContiguousArray<LayerLists.Ended>, gone: ContiguousArray<Node>
  ) {
    var ended = lists.ended
    for record in made where !isPending(record) && !ended.contains(where: { $0.record === record }) {
      ended.append((record, .rolledBack))
    }
    (made, logged) = ([], [])
    let gone = ContiguousArray(takenOff.filter { !$0.exists && journal.existed($0) })
    takenOff = []
    uncovered = lists.uncovered
    lists.finish()
    state.wasExposed = false
    for (record, _) in ended { footprints.remove(ObjectIdentifier(record)) }
    if lists.pending.isEmpty {
      footprints = Footprints()
      isActive = false
      journal.isLayered = false
      // Projections have yet to see what was written.
      let writtenBefore = state.writtenBefore
      (state, lists) = (State(), LayerLists())
      state.writtenBefore = writtenBefore
    }
    return (ended, gone)
  }

  /// Commits the open transaction: adds the base states of the nodes that layers changed to the overlay.
  func commit() {
    (state.writtenBefore, state.writtenBelow) = (0, 0)
    guard isActive else { return forgetFormerlyStale() }
    if let mark = state.mark { lists.addStates(journal, since: mark, without: released) }
    forgetFormerlyStale()
    (hidden, hiding, released) = (nil, [], [])
    (state.mark, state.outer) = (0, nil)
  }

  /// Ends noting where saved values come to show something old, for nodes that layers do not change any longer.
  private func forgetFormerlyStale() {
    func forget(_ node: Node) {
      if lists.overlay.state(of: node) == nil { node.withChildren { $0.formerlyStale = nil } }
    }
    for node in uncovered { forget(node) }
    uncovered = []
    guard journal.isLayered else { return }
    for state in journal.writtenStates { forget(state.node) }
  }
}
