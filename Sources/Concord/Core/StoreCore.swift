/// All of a store's state. Code that has a reference to it holds the store's lock: `SharedCore` passes it on only while the
/// lock is held. So it is not `Sendable`, and no method of it takes the lock.
// Fields of it, and of the objects that it has, are `@exclusivity(unchecked)`, since the check would be made with each access. They are used
// only while the store's lock is held, so that no two threads overlap. For one thread there is a rule: whatever changes such a field in place
// must not call what uses it.
@usableFromInline final class StoreCore {
  @usableFromInline let graph: Graph
  @usableFromInline let backlog: Backlog
  let components: ComponentSearch
  let refresher: Refresher
  let reachability: Reachability
  let visitor: Visitor
  let merge: Merge
  let removal: Removal
  let view: CommittedView
  let hubs: Hubs
  let feed: ChangeFeed
  let projections: Projections
  let layers: LayerStack
  @usableFromInline let log: LogBuffer
  @usableFromInline let clock: StampClock
  @exclusivity(unchecked) var turns = Turns()
  /// Whether observed nodes must be compared with their committed states to find out which of them changed.
  @exclusivity(unchecked) var needsComparison = false
  /// The subscriber that is notified of the commit without a notice. The node retains it for as long as the lock is held.
  @exclusivity(unchecked) var toldNow: Borrowed<Subscriber>?
  var groupCount: UInt64 = 0
  @exclusivity(unchecked) var ended = EndedSources()
  /// The writer of what depends on the layers, which writes at the end of transactions.
  @exclusivity(unchecked) var layerFollower: LayerFollower?
  /// The steps that can be undone, once somebody has asked for them.
  @exclusivity(unchecked) var undoSteps: UndoSteps?
  /// The steps that were recorded within the open transaction.
  @exclusivity(unchecked) var pendingSteps: [PendingStep] = []
  /// Whether the open transaction, or a part of it, is recorded as a step.
  @exclusivity(unchecked) var isRecordingStep = false

  init(clock: StampClock, logger: (any EntityStoreLogger)?) {
    self.clock = clock
    graph = Graph()
    backlog = graph.backlog
    log = LogBuffer(logger, backlog)
    components = ComponentSearch(graph: graph)
    visitor = Visitor(graph: graph, occurrences: OccurrenceList())
    visitor.log = log
    refresher = Refresher(graph: graph, components: components, visitor: visitor)
    reachability = Reachability(graph: graph, log: log)
    merge = Merge(
      graph: graph, components: components, refresher: refresher, reachability: reachability, visitor: visitor,
      clock: clock, log: log)
    removal = Removal(
      graph: graph, refresher: refresher, visitor: visitor, reachability: reachability, log: log)
    view = CommittedView(graph: graph, visitor: visitor, refresher: refresher)
    hubs = Hubs(graph: graph)
    feed = ChangeFeed(graph: graph, hubs: hubs, refresher: refresher, view: view)
    projections = Projections(graph: graph)
    layers = LayerStack(graph.journal, graph.unexamined, graph.written)
    // Unowned, since the core owns the removal: a strong reference would be a cycle.
    removal.didLoseEntity = { [unowned self] in didLoseEntity($0) }
    merge.didGiveStamp = { [unowned projections] in projections.raiseStamp(of: $0) }
    reachability.keeps = { [unowned layers] node, existed in layers.keeps(node, existed: existed) }
    graph.didAddTable = { [unowned projections] in projections.didAdd($0) }
  }

  deinit { graph.dismantle() }

  // MARK: Operations

  /// Prepares for any operation but a removal: removes the occurrences of removed entities, and finds cycles.
  @inlinable func prepare() { if !backlog.isEmpty { prepareNow() } }

  @usableFromInline func prepareNow() {
    settleRemovals()
    settleFollowers()
    components.resolve()
  }

  /// Brings a node's value up to date for readers that see the open transaction.
  @usableFromInline func refresh(_ node: Node) {
    // Values that contain a removed entity are stale, and so are all of their ancestors.
    guard node.isStale else { return }
    prepare()
    refresher.refresh(node)
    settleShapes()
    // A value that was visited again may be stale.
    if node.isStale { refresher.refresh(node) }
  }

  /// Visits values whose relations were found to have changed. A value whose relations keep changing is left as it is after
  /// some rounds.
  func settleShapes() {
    if refresher.reshaped.isEmpty { return }
    for _ in 0..<8 {
      let nodes = refresher.takeReshaped()
      if nodes.isEmpty || merge.isActive { return }
      for node in nodes where node.exists {
        removal.removeAgain(merge.revisit(node))
        refresher.refresh(node)
        // Parents may have copied the previous value. Their observers need no notice of that: the change below, which caused
        // this one, has enqueued one.
        graph.invalidate(node, .enqueued)
      }
      // A change invalidates only ancestors that are not stale yet. These nodes get no notice, after which they would be read.
      for node in graph.unrefreshed.takeAll() { refresher.refresh(node) }
    }
    _ = refresher.takeReshaped()
  }

  private func settleRemovals() {
    guard removal.isPending else { return }
    removal.flush()
    settleShapes()
  }

  /// Finds an entity to write to. One that is not found may have appeared in a value that nobody has read. One that is found is
  /// written without a look at these values, so that a transaction brings them up to date once.
  @inlinable func find<T: Identifiable & Sendable>(_ id: T.ID, in table: Table<T>) -> EntityNode<T>? {
    let node = table.find(id)
    if node != nil || backlog.hasOnlyNotices { return node }
    settleFollowers()
    return table.find(id)
  }

  /// Brings values up to date whose relations may depend on the entities in them: what appears in such a relation is to be
  /// found, and what disappears is to go, also if nobody reads the value.
  @usableFromInline func settleFollowers() {
    if graph.unrefreshed.isEmpty || merge.isActive { return }
    settleRemovals()
    for node in graph.unrefreshed.takeAll() where node.exists && node.isStale { refresher.refresh(node) }
    settleShapes()
  }

  // MARK: Transactions

  /// Ends the outermost transaction: releases what is not reachable, and enqueues a notice for every observer concerned.
  func commit() {
    if backlog.isEmpty { return }
    defer { graph.forgetFormerStates() }
    if canOnlyNotify {
      notify()
      // Bringing values up to date may have left more work.
      if canOnlyNotify, graph.notified.isEmpty { return backlog.clear() }
    }
    completeWrites()
    if projections.isWanted {
      projections.update(self)
      completeWrites()
    }
    repeat {
      settleFollowers()
      reachability.examine()
      // What was released is retained until the search for components has seen that it is gone.
      components.resolve()
      if removal.dropPending() { hubs.dropPending() }
      if hubs.isWanted { hubs.update(self) }
      while !graph.notified.isEmpty || hubs.hasChanged {
        if !graph.notified.isEmpty { notify() }
        if hubs.hasChanged { hubs.tell(self) }
      }
      // Values for observers were brought up to date, which may have changed their relations, and released entities.
    } while !graph.unexamined.isEmpty || !graph.unrefreshed.isEmpty
    assert(!log.isWanted || merge.unrelated.search(graph, log))
    feed.tell(self)
    layers.commit()
    if !graph.journal.isEmpty || graph.journal.isRecording { graph.journal.commit() }
    needsComparison = false
    addPendingSteps()
    removal.forgetRemoved()
    if isIdle { backlog.clear() }
  }

  /// Whether nothing is left but to notify the observers of the written nodes, which is the usual case. Work for hubs and
  /// projections is in the backlog.
  private var canOnlyNotify: Bool { backlog.hasOnlyNotices && !needsComparison && !graph.journal.isRecording }

  func completeWrites() {
    removal.flush()
    if removal.hasRemoved { refreshNotified() }
    settleFollowers()
    settleShapes()
    components.resolve()
  }

  private var isIdle: Bool {
    graph.notified.isEmpty && graph.unrefreshed.isEmpty && graph.unexamined.isEmpty && graph.restructured.isEmpty
      && !removal.isPending
      && !graph.journal.isRecording && !hubs.hasChanged
  }

  private func notify() {
    // Fast path: usually there is one, which needs no list.
    if graph.journal.isEmpty, !needsComparison, !graph.mayShowEqual,
      let node = Borrowed(graph.notified).use({ $0.takeOnly { !$0.isStale && !$0.table.isOfHubs } })
    {
      if !hubs.isWanted, let subscriber = node.onlySubscriber, subscriber.use({ $0.canBeToldNow }) {
        toldNow = subscriber
        return
      }
      return tell(node)
    }
    var nodes = graph.notified.takeAll()
    // Bringing values up to date may change their relations, and so enqueue further nodes.
    var next = 0
    while next < nodes.count {
      Borrowed(nodes[next]).use { if $0.isStale, $0.buffersCalls { refresh($0) } }
      next += 1
      if next == nodes.count, !graph.notified.isEmpty {
        let known = Set(nodes.map { ObjectIdentifier($0) })
        nodes += graph.notified.takeAll().filter { !known.contains(ObjectIdentifier($0)) }
      }
    }
    let changed = graph.journal.isEmpty && !needsComparison ? nil : ChangedNodes(graph: graph, view: view)
    for i in nodes.indices {
      Borrowed(nodes[i]).use { node in
        if node.table.isOfHubs {
          hubs.didChange(node)
        } else if changed?.contains(node) ?? true, !(graph.mayShowEqual || needsComparison) || !showsEqual(node) {
          tell(node)
          if changed != nil { feed.didTell(node) }
        } else {
          // As in `settleShapes`: a stale node would not be invalidated by the next change below.
          refresh(node)
        }
      }
    }
  }

  /// Whether a value that was invalidated equals the former one. One whose former value is not known counts as changed.
  private func showsEqual(_ node: Node) -> Bool {
    guard node.exists, node.table.reachesRecursion, node.table.isEquatable else { return false }
    refresh(node)
    guard let former = view.state(of: node) ?? graph.formerState(of: node) else { return false }
    return node.table.isSame(node, as: former)
  }

  /// Brings values up to date that observers are about to receive, while it is known which entities were removed.
  private func refreshNotified() {
    let nodes = graph.notified.takeAll()
    for node in nodes { graph.notified.insert(node) }
    for node in nodes where node.isStale && node.buffersCalls { refresh(node) }
  }

  private func tell(_ node: Node) {
    if node.flags.contains(.followed) { hubs.follower(of: node.table)?.didChange(node, self) }
    // No observer subscribes or ends meanwhile, since that takes the lock.
    node.withLinks { links in
      for i in links.subscribers.indices { Borrowed(links.subscribers[i]).use { $0.didChange(self) } }
    }
  }

  /// Whether an operation that only reads left work, because it found a value whose relations have changed.
  @inlinable var hasUnfinished: Bool { !backlog.isEmpty && hasUnfinishedNodes }

  @usableFromInline var hasUnfinishedNodes: Bool { !graph.notified.isEmpty || !graph.unexamined.isEmpty }

  /// Lets a node be compared with its committed state when the open transaction ends: for an observer that began during the
  /// transaction, or was called during it with the committed value. Both have to be notified of the transaction's changes.
  func compareAtCommit(_ node: Node) {
    needsComparison = true
    graph.notified.insert(node)
    // In a cycle what changes may leave the brief forms of it as they were, and so what is shown here.
    if node.table.reachesRecursion, node.table.isEquatable { graph.journal.save(node, isWrite: false) }
  }
}
