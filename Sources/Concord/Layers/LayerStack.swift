/// The pending layers of a store, and what they were put above.
///
/// Between transactions all layers are *shown*: nodes have what the base and all closures make of them, and `overlay` has what
/// the changed ones are in the base. A write to the base *exposes* it first: the overlay is put back, as a part of the
/// transaction. At the end of the outermost transaction the closures are replayed, and since the journal has what was committed
/// before, observers are told of the net of it. Where it is known that a write concerns no layer, or some only, the others stay
/// where they are: see StoreCore+Beneath.
final class LayerStack {
  /// What a transaction that throws goes back to.
  struct State {
    /// From the lowest to the topmost.
    var pending = SlotList<LayerRecord>()
    var overlay = Overlay()
    /// Where the journal's states above the base begin; `nil` while the base is exposed.
    var mark: Int?
    /// What the journal's savepoint was before `mark`; `nil` if the layers were shown when the transaction began.
    var outer: Int?
    /// The layers are shown, and what is written goes beneath them; there is no `mark` then.
    var isBeneath = false
    /// Those that are not shown then, since they depend on what is written, and are to be replayed at the end.
    var takenOff: Set<ObjectIdentifier> = []
    /// How much was logged and removed at `mark`.
    var writes = WriteSavepoint(logCount: 0, clearedCount: 0)
    /// The base was exposed in the open transaction, and so all closures are to be replayed at its end.
    var wasExposed = false
    /// Layers that ended in the open transaction.
    var ended: ContiguousArray<(record: LayerRecord, state: OptimisticLayer.State)> = []
    /// What each layer that ran in the open transaction changed.
    var touched: [ObjectIdentifier: ContiguousArray<Node>] = [:]
    /// What closures asked for, to be done when they have returned.
    var requests: ContiguousArray<(record: LayerRecord, ending: Ending)> = []
  }

  /// How a layer is to end.
  enum Ending { case committing, rollingBack }

  var state = State()
  /// There are layers, or were in the open transaction.
  private(set) var isActive = false
  /// The layer whose closure runs, and what an update in it did not find.
  private(set) var running: LayerRecord?
  var missing: NothingToUpdate?
  /// What closures depend on.
  private(set) var footprints = Footprints()
  private var trace = FootprintTrace()
  /// Made in the open transaction, also if that was undone.
  var made: ContiguousArray<LayerRecord> = []

  /// What each layer keeps: the entities that it made or changed.
  private var kept: [ObjectIdentifier: ContiguousArray<Node>] = [:]
  /// Entities of the base that are not shown and that nobody else needs: their nodes stay in the table, so that they can come back.
  private var shadows: ContiguousArray<Node> = []
  /// What entities of the base contain and do not show; known while it is needed.
  private var hidden: Set<ObjectIdentifier>?
  /// What neither needs any longer.
  private var released: Set<ObjectIdentifier> = []
  /// Entities that the base has lost in the open transaction; a closure may make them again, and finds their nodes.
  private var limbo: ContiguousArray<Node> = []
  /// Shown until they were taken off with the layer that had made them.
  private var takenOff: ContiguousArray<Node> = []
  /// The base is complete, and what it does not need goes.
  private var isSettling = false
  /// How many nodes had been written in the transaction when the base was exposed for the first time, and when layers were put
  /// above for the last.
  private var (writtenBefore, writtenBelow) = (0, 0)

  private let journal: Journal
  private let unexamined: NodeQueue
  private let written: WrittenNodes

  init(_ journal: Journal, _ unexamined: NodeQueue, _ written: WrittenNodes) {
    (self.journal, self.unexamined, self.written) = (journal, unexamined, written)
  }

  var isShown: Bool { state.mark != nil }

  func isPending(_ record: LayerRecord) -> Bool { state.pending.contains(ObjectIdentifier(record)) }

  /// The closure of an operation has made a layer.
  var wereEntered: Bool { isShown && running == nil }

  // MARK: The open transaction

  /// The first layer is about to be made. Inside a transaction, what is there is the base.
  func activate(isInTransaction: Bool) {
    guard !isActive else { return }
    isActive = true
    journal.isLayered = true
    state = State()
    if isInTransaction { state.wasExposed = true } else { state.mark = 0 }
  }

  func begin(_ writes: WriteSavepoint) {
    state.writes = writes
    (writtenBefore, writtenBelow) = (0, 0)
  }

  /// From now on what is written is above the base.
  func enter(_ writes: WriteSavepoint) {
    state.writes = writes
    state.outer = journal.begin()
    (state.mark, state.isBeneath) = (journal.count, false)
    writtenBelow = written.all.count
  }

  /// What is written above the base has been undone.
  func leave() {
    if let outer = state.outer { journal.end(outer) }
    (state.mark, state.outer) = (nil, nil)
    (state.touched, state.takenOff) = ([:], [])
  }

  /// Whether nothing was written above the base in the open transaction, nor was it exposed.
  var mayWriteBeneath: Bool { state.isBeneath || state.outer == nil && state.mark == journal.count }

  func goBeneath() { (state.mark, state.isBeneath) = (nil, true) }

  /// What was written so far was written beneath the layers; what follows is above again.
  func comeUp() {
    guard state.isBeneath else { return }
    (state.mark, state.isBeneath) = (journal.count, false)
  }

  /// What is there is the base.
  func didExpose() {
    if !state.wasExposed { writtenBefore = written.all.count }
    state.wasExposed = true
  }

  /// Where the writes begin that projections have not seen: those to the base, or those above.
  var firstUnprojected: Int { isShown ? writtenBelow : writtenBefore }

  /// A transaction that throws is undone from its savepoint on, above the base or not.
  func goBack(to saved: State?) {
    guard isActive else { return }
    if let outer = state.outer, state.mark != saved?.mark { journal.end(outer) }
    if saved?.wasExposed != state.wasExposed || !wereMade(state.touched, since: saved) {
      // Closures may have run that are undone now.
      footprints.forget()
    } else {
      for record in state.touched.keys { footprints.remove(record) }
    }
    state = saved ?? State()
    // There were no layers: what is there is the base.
    if saved == nil { state.wasExposed = true }
  }

  /// Whether closures have run only of layers that are undone with their making, so that the others are what they were.
  private func wereMade(_ touched: [ObjectIdentifier: ContiguousArray<Node>], since saved: State?) -> Bool {
    // It is of no use for many.
    guard let saved, touched.count <= 4 else { return touched.isEmpty }
    return !touched.keys.contains(where: saved.pending.contains)
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

  /// The closure that runs writes to an entity, or to one that is not there.
  func willWrite(_ node: Node?) { if let node { trace.add(node) } }

  /// It does what is not traced.
  func giveUpTracing() { trace.giveUp() }

  /// A closure has run. What it changed, with what that contains and contained, is a part of its footprint.
  func didRun(_ record: LayerRecord, since start: Int) {
    let touched = journal.writtenNodes(since: start)
    state.touched[ObjectIdentifier(record)] = touched
    for node in touched {
      trace.add(node)
      for edge in journal.firstState(of: node, since: start)?.children?.list.edges ?? [] { trace.add(edge.child) }
    }
    footprints.set(trace.nodes, of: ObjectIdentifier(record))
    trace = FootprintTrace()
  }

  /// A closure did not apply: it is tried again with each write to the base, or is dropped.
  func didFail(_ record: LayerRecord) {
    if record.waits {
      footprints.set(nil, of: ObjectIdentifier(record))
    } else {
      footprints.remove(ObjectIdentifier(record))
    }
  }

  /// What a layer is known to depend on, and what it changes: as it was last kept, or as it is shown now.
  func nodes(of record: LayerRecord, isShown: Bool = false) -> [ContiguousArray<ObjectIdentifier>?] {
    let id = ObjectIdentifier(record)
    let changed = isShown ? state.touched[id]?.filter(\.exists) : kept[id]
    return [footprints.nodes(of: id), ContiguousArray((changed ?? []).map { ObjectIdentifier($0) })]
  }

  func didReplayAll() { footprints.didReplayAll() }

  /// A closure wants a layer to end.
  func request(_ record: LayerRecord, _ ending: Ending) {
    guard isPending(record), !state.requests.contains(where: { $0.record === record }) else { return }
    state.requests.append((record, ending))
  }

  // MARK: What layers keep

  /// Whether a node that nobody holds any longer is to stay nevertheless: because the base has the entity and layers only hide it,
  /// or, until the transaction ends, because the base had it when that began. `existed` says whether the entity was stored
  /// until now.
  func keeps(_ node: Node, existed: Bool) -> Bool {
    guard !node.table.isOfHubs else { return false }
    if hides(node, existed: existed) { return true }
    // It leaves its table: whoever has its id next is another one.
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
    // What no closure has touched was there in the base, too.
    let base = state.overlay.state(of: node) ?? journal.firstState(of: node, since: mark)
    guard let base, base.flags.contains(.exists) else { return false }
    if existed, !base.flags.contains(.registered), !isHidden(node, mark) {
      // Nor does the base need it.
      released.insert(ObjectIdentifier(node))
      return false
    }
    node.holders.add()
    shadows.append(node)
    hide(base)
    return true
  }

  /// Whether something in the base contains a node that does not do so as it is shown.
  private func isHidden(_ node: Node, _ mark: Int) -> Bool {
    if hidden == nil {
      hidden = []
      for state in state.overlay.statesOfContainers { hide(state) }
      for (state, _) in journal.firstStates(since: mark) where self.state.overlay.state(of: state.node) == nil {
        // It has just lost what it contained, since it goes itself.
        if state.node !== node { hide(state) }
      }
    }
    return hidden?.contains(ObjectIdentifier(node)) ?? false
  }

  private func hide(_ state: SavedState) {
    guard let list = state.children?.list, list !== state.node.children else { return }
    for edge in list.edges { hidden?.insert(ObjectIdentifier(edge.child)) }
  }

  /// The base is complete: examines what it needs. What is not shown, and what layers kept that have ended, is not held any longer.
  func settle(_ examine: () -> Void) {
    for node in shadows { release(node) }
    shadows = []
    letGoOfEnded()
    isSettling = true
    examine()
    isSettling = false
  }

  private func letGoOfEnded() {
    for (record, _) in state.ended {
      for node in kept.removeValue(forKey: ObjectIdentifier(record)) ?? [] { release(node) }
    }
  }

  /// Entities that the base has only because a layer kept them that does not change them any longer; they are not held afterwards.
  func letGoOfUntouched() -> Bool {
    var counts: [ObjectIdentifier: Int] = [:]
    for nodes in kept.values { for node in nodes { counts[ObjectIdentifier(node), default: 0] += 1 } }
    for nodes in state.touched.values { for node in nodes { counts[ObjectIdentifier(node)] = nil } }
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

  /// All layers are shown: each keeps what it changed now.
  func hold() {
    for node in limbo { unexamined.insert(node) }
    limbo = []
    // Those that ended are not among them.
    for (record, touched) in state.touched {
      let nodes = ContiguousArray(touched.filter(\.exists))
      for node in nodes { node.holders.add() }
      for node in kept[record] ?? [] { release(node) }
      kept[record] = nodes
    }
    letGoOfEnded()
    if state.pending.isEmpty {
      for node in shadows { release(node) }
      shadows = []
    }
  }

  private func release(_ node: Node) {
    node.holders.remove()
    if node.holders.count == 0 { unexamined.insert(node) }
  }

  // MARK: Its end

  func didTakeOff(_ node: Node) { takenOff.append(node) }

  /// The transaction is about to end. Gives the layers that ended in it, and what was shown and is not any longer.
  func finish() -> (
    ended: ContiguousArray<(record: LayerRecord, state: OptimisticLayer.State)>, gone: ContiguousArray<Node>
  ) {
    var ended = state.ended
    for record in made where !isPending(record) && !ended.contains(where: { $0.record === record }) {
      ended.append((record, .rolledBack))
    }
    made = []
    let gone = ContiguousArray(takenOff.filter { !$0.exists })
    takenOff = []
    state.ended = []
    (state.touched, state.takenOff) = ([:], [])
    state.wasExposed = false
    for (record, _) in ended { footprints.remove(ObjectIdentifier(record)) }
    if state.pending.isEmpty {
      footprints = Footprints()
      isActive = false
      journal.isLayered = false
      state = State()
    }
    return (ended, gone)
  }

  /// The transaction ends: what it changed above the base is kept.
  func commit() {
    (writtenBefore, writtenBelow) = (0, 0)
    guard isActive else { return }
    if let mark = state.mark { state.overlay.add(journal, since: mark, without: released) }
    (hidden, released) = (nil, [])
    (state.mark, state.outer) = (0, nil)
  }
}
