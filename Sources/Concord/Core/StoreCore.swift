/// All of a store's state. Whoever has it holds the store's lock: `SharedCore` hands it out for as long as that is held, which
/// is why it is not `Sendable` and no method of it takes the lock.
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
  /// The observed nodes were touched by more than plain changes; find out which of them really differ.
  @exclusivity(unchecked) var needsComparison = false
  /// Who is to be told of the commit without being enqueued; the node keeps it for as long as the lock is held.
  @exclusivity(unchecked) var toldNow: Borrowed<Subscriber>?
  var groupCount: UInt64 = 0
  @exclusivity(unchecked) var ended = EndedSources()

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
    // Unowned, since the core has the removal: a strong reference would be a cycle, and nobody else calls it.
    removal.didLoseEntity = { [unowned self] in didLoseEntity($0) }
    merge.didGiveStamp = { [unowned projections] in projections.raiseStamp(of: $0) }
    reachability.keeps = { [unowned layers] node, existed in layers.keeps(node, existed: existed) }
    graph.didAddTable = { [unowned projections] in projections.didAdd($0) }
  }

  deinit { graph.dismantle() }

  // MARK: Operations

  /// Before any operation but a removal: removed entities are taken out of what holds them, and cycles are known.
  @inlinable func prepare() { if !backlog.isEmpty { prepareNow() } }

  @usableFromInline func prepareNow() {
    if removal.isPending {
      removal.flush()
      settleShapes()
    }
    components.resolve()
  }

  /// Brings a node's value up to date for whoever sees the open transaction.
  @usableFromInline func refresh(_ node: Node) {
    // What holds a removed entity is stale, and so is all above it.
    guard node.isStale else { return }
    prepare()
    refresher.refresh(node)
    settleShapes()
    // What was visited anew may show something old.
    if node.isStale { refresher.refresh(node) }
  }

  /// Visits values that were found to have another shape than before. A value whose shape keeps changing is left after a while.
  func settleShapes() {
    if refresher.reshaped.isEmpty { return }
    for _ in 0..<8 {
      let nodes = refresher.takeReshaped()
      if nodes.isEmpty || merge.isActive { return }
      for node in nodes where node.exists {
        removal.removeAgain(merge.revisit(node))
        refresher.refresh(node)
        // Parents may have copied what it showed before. Their observers need no notice of that: the change below, which led to the
        // other shape, has enqueued one.
        graph.invalidate(node, isNotifying: false)
      }
      // A change below goes up only to what is not stale yet. Nobody is told of these, and so nobody would read them.
      for node in graph.unrefreshed.takeAll() { refresher.refresh(node) }
    }
    _ = refresher.takeReshaped()
  }

  // MARK: Transactions

  /// Ends the outermost transaction: releases what is not reachable, and enqueues a notice for every observer concerned.
  func commit() {
    if backlog.isEmpty { return }
    if canOnlyNotify {
      notify()
      // Bringing values up to date for it may have left more.
      if canOnlyNotify, graph.notified.isEmpty { return backlog.clear() }
    }
    completeWrites()
    if projections.isWanted {
      projections.update(self)
      completeWrites()
    }
    repeat {
      reachability.examine()
      removal.dropPending()
      if hubs.isWanted { hubs.update(self) }
      while !graph.notified.isEmpty || hubs.hasChanged {
        if !graph.notified.isEmpty { notify() }
        if hubs.hasChanged { hubs.tell(self) }
      }
      // What observers are told was brought up to date, which may have shown another shape, without some that stood in it.
    } while !graph.unexamined.isEmpty
    assert(!log.isWanted || merge.unrelated.search(graph, log))
    feed.tell(self)
    layers.commit()
    if !graph.journal.isEmpty || graph.journal.isRecording { graph.journal.commit() }
    needsComparison = false
    removal.forgetRemoved()
    if isIdle { backlog.clear() }
  }

  /// Most often there is nothing to be done but to tell the observers of what was written. What hubs and projections are to look
  /// at is in the backlog.
  private var canOnlyNotify: Bool { backlog.hasOnlyNotices && !needsComparison && !graph.journal.isRecording }

  func completeWrites() {
    removal.flush()
    if removal.hasRemoved { refreshNotified() }
    settleShapes()
    components.resolve()
  }

  private var isIdle: Bool {
    graph.notified.isEmpty && graph.unexamined.isEmpty && graph.restructured.isEmpty && !removal.isPending
      && !graph.journal.isRecording && !hubs.hasChanged
  }

  private func notify() {
    // Most often there is one, which needs no list.
    if graph.journal.isEmpty, !needsComparison,
      let node = Borrowed(graph.notified).use({ $0.takeOnly { !$0.isStale && !$0.table.isOfHubs } })
    {
      if !hubs.isWanted, let subscriber = node.onlySubscriber, subscriber.use({ $0.canBeToldNow }) {
        toldNow = subscriber
        return
      }
      return tell(node)
    }
    var nodes = graph.notified.takeAll()
    // Bringing values up to date may show that they have another shape, and so change others.
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
        } else if changed?.contains(node) ?? true {
          tell(node)
        } else {
          // As above, in `settleShapes`: the next change below is to come up to it again.
          refresh(node)
        }
      }
    }
  }

  /// What observers are about to be told may show what was removed: that is to be known while it is known what was.
  private func refreshNotified() {
    let nodes = graph.notified.takeAll()
    for node in nodes { graph.notified.insert(node) }
    for node in nodes where node.isStale && node.buffersCalls { refresh(node) }
  }

  private func tell(_ node: Node) {
    // Nobody subscribes or leaves meanwhile, since that takes the lock.
    node.withLinks { links in
      for i in links.subscribers.indices { Borrowed(links.subscribers[i]).use { $0.didChange(self) } }
    }
  }

  /// Whether an operation that only reads left something to be done: a value was found to have another shape.
  @inlinable var hasUnfinished: Bool { !backlog.isEmpty && hasUnfinishedNodes }

  @usableFromInline var hasUnfinishedNodes: Bool { !graph.notified.isEmpty || !graph.unexamined.isEmpty }

  /// Has observers of a node compared with what was committed when the open transaction ends: for an observer that began during
  /// it, and for one that was called during it with the committed value. Both have yet to be told what the transaction did.
  func compareAtCommit(_ node: Node) {
    needsComparison = true
    graph.notified.insert(node)
  }
}
