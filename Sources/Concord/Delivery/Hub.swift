/// A combination of several entities that is observed as one. Its observers subscribe to a node of its own, and are notified
/// once a transaction, whichever of the entities changed.
class Hub {
  let node: Node
  /// The depth of the hub: it may be made of other hubs, which have lower levels and are notified first.
  let level: Int
  fileprivate(set) var isChanged = false

  /// The lock is held.
  init(level: Int, _ core: StoreCore) {
    self.level = level
    node = core.hubs.makeNode()
    core.hubs.add(self)
  }

  /// Finds the entities that were stored or removed, at the end of the transaction.
  func update(_ core: StoreCore) {}
  /// Ends the hub, which is not observed any longer.
  func detach(_ core: StoreCore) {}
  /// Returns the invariants that the hub breaks, for the store's own tests.
  func brokenInvariants() -> [String] { [] }
  /// Returns what an inspector shows of the hub, if it is a query.
  func inspected(_ core: StoreCore) -> InspectedQuery? { nil }
}

/// A subscriber that notifies a hub of changes to one of its entities, and calls no observer.
struct Relay {
  private let subscriber: Subscriber

  /// The lock is held.
  init(to hub: Hub, from node: Node, _ shared: SharedCore) {
    let handle = NodeHandle(hub.node)
    let calls = CallMaker(shared.lines.direct) { core, _, _ in
      core.hubs.didChange(handle.node(in: core))
      return nil
    }
    subscriber = Subscriber(calls, to: NodeHandle(node), isWhole: false, shared: shared, buffering: .every)
    node.addSubscriber(subscriber)
  }

  func detach(_ core: StoreCore) { subscriber.node.node(in: core).removeSubscriber(subscriber) }
}

/// A follower of all entities of a type: of those that come and go, and of what changes in them.
class TypeFollower {
  /// Finds the entities that were stored or removed, at the end of the transaction.
  func update(_ core: StoreCore) {}
  /// Notes that an entity, or one inside it, has changed.
  func didChange(_ node: Node, _ core: StoreCore) {}
}

/// All hubs of a store. Used only while the lock is held.
final class Hubs {
  private let graph: Graph
  private let table: Table<HubEntity>
  // Unchecked as in `StoreCore`: no access is within another, since none of the user's code runs in one.
  @exclusivity(unchecked) private var hubs: [ObjectIdentifier: Hub] = [:]
  @exclusivity(unchecked) private var changed: ContiguousArray<Hub> = []
  private var count: UInt64 = 0
  /// The node of all derived sources. It always has a holder.
  let derivedNode: EntityNode<HubEntity>
  /// The hubs that need to know the writes of each transaction.
  var listings: [ObjectIdentifier: Hub] = [:] {
    didSet { updateListed() }
  }
  /// The followers of types. Nodes of these types are marked as ``Node/Flags/followed``.
  var followers: [ObjectIdentifier: TypeFollower] = [:] {
    didSet { updateListed() }
  }

  init(graph: Graph) {
    self.graph = graph
    table = graph.table(HubEntity.self)
    table.isInternal = true
    table.isOfHubs = true
    derivedNode = table.nodeAwaiting(0)
    derivedNode.holders.add()
  }

  private func updateListed() { graph.written.isListed = !listings.isEmpty || !followers.isEmpty }

  var isWanted: Bool { !hubs.isEmpty }
  var hasChanged: Bool { !changed.isEmpty }

  /// Returns a new node without an entity, to be observed.
  func makeNode() -> Node {
    count += 1
    return table.nodeAwaiting(count)
  }

  fileprivate func add(_ hub: Hub) {
    hubs[ObjectIdentifier(hub.node)] = hub
    graph.backlog.add()
  }

  func hub(at node: Node) -> Hub? { hubs[ObjectIdentifier(node)] }
  var all: [Hub] { Array(hubs.values) }

  func didChange(_ hub: Hub) {
    guard !hub.isChanged else { return }
    hub.isChanged = true
    changed.append(hub)
    graph.backlog.add()
  }

  func didChange(_ node: Node) { if let hub = hub(at: node) { didChange(hub) } }

  /// Ends hubs that are not observed any longer, and updates the others, before observers are notified.
  func update(_ core: StoreCore) {
    for node in graph.releasedHubs {
      guard let hub = hubs.removeValue(forKey: ObjectIdentifier(node)) else { continue }
      hub.detach(core)
      // The condition of a query, and what it holds, is the user's.
      core.ended.append(hub)
    }
    graph.releasedHubs = []
    for listing in listings.values { listing.update(core) }
    for follower in followers.values { follower.update(core) }
  }

  /// Discards notices of states that were committed before everything was removed, and owes the newest to those who had one.
  func dropPending() {
    for hub in hubs.values {
      var hadAny = false
      for subscriber in hub.node.subscribers where subscriber.dropPending() { hadAny = true }
      if hadAny { didChange(hub) }
    }
  }

  func follower(of table: AnyTable) -> TypeFollower? { followers[table.valueType] }

  /// Notifies the observers of changed hubs, those of the lowest level first.
  func tell(_ core: StoreCore) {
    while let level = changed.lazy.map(\.level).min() {
      let turn = changed.filter { $0.level == level }
      changed.removeAll { $0.level == level }
      for hub in turn {
        hub.isChanged = false
        for subscriber in hub.node.subscribers { subscriber.didChange(core) }
        core.feed.didTell(hub.node)
      }
    }
  }
}

/// The entity of a hub's node, which is observed and never stored.
struct HubEntity: Identifiable, Sendable { let id: UInt64 }
