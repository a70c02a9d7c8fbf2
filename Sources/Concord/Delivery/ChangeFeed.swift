/// The feed of a store's change sets.
final class ChangeFeed {
  private let graph: Graph
  private let refresher: Refresher
  private let view: CommittedView
  let node: Node
  private(set) var present: ChangeSet?
  /// The context of the outermost transaction.
  @exclusivity(unchecked) var context: TransactionContext?
  @exclusivity(unchecked) var origin: ObjectIdentifier?
  /// The place where the outermost transaction was begun.
  @exclusivity(unchecked) var site: CallSite?
  /// The notes for the inspector, if one is attached.
  var inspection: Inspection? {
    didSet {
      notesHolders = inspection != nil
      update()
    }
  }
  /// Whether an inspector is attached that notes who makes observers which hold an entity, and it has not noted too many.
  @exclusivity(unchecked) private(set) var notesHolders = false

  init(graph: Graph, hubs: Hubs, refresher: Refresher, view: CommittedView) {
    self.graph = graph
    self.refresher = refresher
    self.view = view
    node = hubs.makeNode()
    node.holders.add()
  }

  /// Begins or ends recording old values, when the first follower comes or the last one leaves.
  func update() {
    let isFollowed = node.isObserved
    graph.written.isFollowed = isFollowed
    graph.written.isTimed = isFollowed && inspection?.isRecording == true
    graph.journal.follow(isFollowed)
  }

  /// The number of writes and releases so far, by which an inspector sees that something has changed.
  var inspectedWrites: UInt64 { graph.journal.writeCount &+ graph.written.releaseCount }

  /// Notes a new observer, whose node may be that of the feed.
  func didSubscribe(_ subscriber: Subscriber, _ site: CallSite?, isInTransaction: Bool) {
    if let inspection {
      if let site, site.isOfRecorder {
        inspection.beginRecording(writes: inspectedWrites, isInTransaction: isInTransaction)
      } else {
        inspection.didSubscribe(subscriber, site)
      }
    }
    update()
  }

  /// Notes an observer that holds a node.
  func didHold(_ node: Node, _ source: AnySource) { notesHolders = inspection?.didHold(node, source) ?? false }

  /// Notes more observers that hold a node.
  func noteHolders() {
    inspection?.noteHolders()
    notesHolders = inspection != nil
  }

  /// Notes who begins a transaction.
  func begin(_ context: TransactionContext?, _ origin: ObjectIdentifier?, _ site: CallSite?) {
    (self.context, self.origin, self.site) = (context, origin, site)
    graph.written.begin()
  }

  /// Notes who is told of a node's change.
  func didTell(_ node: Node) { inspection?.didTell(node) }

  /// Delivers the changes of the transaction: entities that were inserted or removed, or whose own fields or relations changed.
  func tell(_ core: StoreCore) {
    defer {
      if context != nil { context = nil }
      origin = nil
      if site != nil { site = nil }
      inspection?.endTransaction(writes: inspectedWrites)
    }
    // Whoever wanted it may have gone since.
    guard graph.written.isWanted || graph.written.count > 0 else { return }
    let (written, released) = (graph.written.takeAll(), graph.written.takeReleased())
    defer { graph.written.forgetOwnStamps() }
    guard graph.written.isFollowed else { return }
    let duration = graph.written.takeDuration()
    var seen: Set<ObjectIdentifier> = []
    var changes: [ChangeSet.Change] = []
    for node in written where !node.table.isInternal && seen.insert(ObjectIdentifier(node)).inserted {
      if let change = change(of: node, isReleased: released.contains(ObjectIdentifier(node))) { changes.append(change) }
    }
    guard !changes.isEmpty else { return }
    present = ChangeSet(
      changes: changes, context: context, origin: origin, commit: inspection?.takeTransaction(site, duration))
    for subscriber in node.subscribers { subscriber.didChange(core) }
    present = nil
  }

  private func change(of node: Node, isReleased: Bool) -> ChangeSet.Change? {
    guard let state = graph.journal.committedState(of: node) else { return nil }
    let existed = state.flags.contains(.exists)
    guard existed || node.exists, let id = node.table.id(of: node) else { return nil }
    let isSame = existed && node.exists && !node.differs(from: state, graph)
    if isSame { return nil }
    if node.exists { refresher.refresh(node) }
    let old = existed ? node.table.committedEntity(of: node, view) : nil
    let new = node.exists ? node.table.entity(of: node) : nil
    guard let type = (new ?? old).map({ Swift.type(of: $0) }) else { return nil }
    return ChangeSet.Change(
      type: type, id: id, old: old, new: new, wasRemoved: new == nil && !isReleased,
      givenStamp: new == nil ? nil : givenStamp(of: node, before: existed ? state.stamp : -.infinity))
  }

  /// Returns the stamp that the writer gave; `nil` if the stamp is the clock's, or was kept.
  private func givenStamp(of node: Node, before stamp: Stamp) -> Stamp? {
    node.stamp == stamp || graph.written.hasOwnStamp(node) ? nil : node.stamp
  }
}
