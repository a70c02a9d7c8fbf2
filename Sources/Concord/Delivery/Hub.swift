/// Something that is made of several entities and observed as one. Its observers subscribe to a node of its own, and are told
/// once a transaction, whichever of the entities changed.
class Hub {
  let node: Node
  /// A hub may be made of others, which are told before it.
  let level: Int
  fileprivate(set) var isChanged = false

  /// The lock is held.
  init(level: Int, _ core: StoreCore) {
    self.level = level
    node = core.hubs.makeNode()
    core.hubs.add(self)
  }

  /// The transaction ends: sees to it that what came or went is known.
  func update(_ core: StoreCore) {}
  /// Nobody observes it any longer.
  func detach(_ core: StoreCore) {}
}

/// Tells a hub that one of its entities changed: a subscriber that calls nobody.
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

/// All hubs of a store. Used only while the lock is held.
final class Hubs {
  private let graph: Graph
  private let table: Table<HubEntity>
  @exclusivity(unchecked) private var hubs: [ObjectIdentifier: Hub] = [:]
  @exclusivity(unchecked) private var changed: ContiguousArray<Hub> = []
  private var count: UInt64 = 0
  /// The node of all sources that are made of others. It is never the last holder that leaves it.
  let derivedNode: EntityNode<HubEntity>
  /// Those that want to know what each transaction wrote.
  var listings: [ObjectIdentifier: Hub] = [:] {
    didSet { graph.written.isListed = !listings.isEmpty }
  }

  init(graph: Graph) {
    self.graph = graph
    table = graph.table(HubEntity.self)
    table.isInternal = true
    table.isOfHubs = true
    derivedNode = table.nodeAwaiting(0)
    derivedNode.holders.add()
  }

  var isWanted: Bool { !hubs.isEmpty }
  var hasChanged: Bool { !changed.isEmpty }

  /// A node that nothing is stored for, to be observed.
  func makeNode() -> Node {
    count += 1
    return table.nodeAwaiting(count)
  }

  fileprivate func add(_ hub: Hub) {
    hubs[ObjectIdentifier(hub.node)] = hub
    graph.backlog.add()
  }

  func hub(at node: Node) -> Hub? { hubs[ObjectIdentifier(node)] }

  func didChange(_ hub: Hub) {
    guard !hub.isChanged else { return }
    hub.isChanged = true
    changed.append(hub)
    graph.backlog.add()
  }

  func didChange(_ node: Node) { if let hub = hub(at: node) { didChange(hub) } }

  /// Before observers are told: ends what nobody observes, and looks at what came and went.
  func update(_ core: StoreCore) {
    for node in graph.releasedHubs { hubs.removeValue(forKey: ObjectIdentifier(node))?.detach(core) }
    graph.releasedHubs = []
    for listing in listings.values { listing.update(core) }
  }

  /// Tells the observers of what changed: what others are made of first.
  func tell(_ core: StoreCore) {
    while let level = changed.lazy.map(\.level).min() {
      let turn = changed.filter { $0.level == level }
      changed.removeAll { $0.level == level }
      for hub in turn {
        hub.isChanged = false
        for subscriber in hub.node.subscribers { subscriber.didChange(core) }
      }
    }
  }
}

/// The entity that stands for a hub, or for all changes: never stored, only observed.
struct HubEntity: Identifiable, Sendable { let id: UInt64 }
