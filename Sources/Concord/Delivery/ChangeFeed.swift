/// The feed of a store's change sets.
final class ChangeFeed {
  private let graph: Graph
  private let refresher: Refresher
  private let view: CommittedView
  private let clock: StampClock
  let node: Node
  private(set) var present: ChangeSet?
  /// The context of the outermost transaction.
  @exclusivity(unchecked) var context: TransactionContext?
  @exclusivity(unchecked) var origin: ObjectIdentifier?
  /// The clock's last stamp before the transaction: later ones are stamps that the transaction was not given.
  private var clockBefore: Stamp = -.infinity

  init(graph: Graph, hubs: Hubs, refresher: Refresher, view: CommittedView, clock: StampClock) {
    self.graph = graph
    self.refresher = refresher
    self.view = view
    self.clock = clock
    node = hubs.makeNode()
    node.holders.add()
  }

  /// Begins or ends recording old values, when the first follower comes or the last one leaves.
  func update() {
    let isFollowed = node.isObserved
    if isFollowed, !graph.written.isFollowed { clockBefore = clock.last }
    graph.written.isFollowed = isFollowed
    graph.journal.follow(isFollowed)
  }

  /// Delivers the changes of the transaction: entities that were inserted or removed, or whose own fields or relations changed.
  func tell(_ core: StoreCore) {
    defer {
      if context != nil { context = nil }
      origin = nil
    }
    guard graph.written.isWanted else { return }
    let (written, released) = (graph.written.takeAll(), graph.written.takeReleased())
    guard graph.written.isFollowed else { return }
    defer { clockBefore = clock.last }
    var seen: Set<ObjectIdentifier> = []
    var changes: [ChangeSet.Change] = []
    for node in written where !node.table.isInternal && seen.insert(ObjectIdentifier(node)).inserted {
      if let change = change(of: node, isReleased: released.contains(ObjectIdentifier(node))) { changes.append(change) }
    }
    guard !changes.isEmpty else { return }
    present = ChangeSet(changes: changes, context: context, origin: origin)
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
    if node.stamp == stamp || (node.stamp > clockBefore && node.stamp <= clock.last) { return nil }
    return node.stamp
  }
}
