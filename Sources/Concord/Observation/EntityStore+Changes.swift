/// What one transaction changed.
package struct EntityChanges: Sendable {
  /// The values of entities that were stored anew, or whose own fields or relations changed.
  package let entities: [any Identifiable & Sendable]
  /// Who is behind it; see `withOrigin`.
  package let origin: ObjectIdentifier?
}

extension EntityStore {
  /// Calls back once for each transaction that changed entities: in commit order, never overlapping, before the writing call
  /// returns (or by the thread that is already delivering), whatever the store's `Delivery`.
  ///
  /// Parents that changed only because a child did are not among them, nor are removed entities. Costs nothing while
  /// nobody listens.
  package func observeChanges(
    _ body: @escaping @Sendable ([any Identifiable & Sendable], ObjectIdentifier?) -> Void
  ) -> Subscription {
    let source = engine.read { ChangeSource(NodeRef(node: engine.changeFeed)) }
    return source.subscribe(lane: engine.lanes.direct) { body($0.entities, $0.origin) }
  }

  /// Marks the transaction in which `body` runs, for those who observe changes.
  package func withOrigin<R>(_ origin: ObjectIdentifier, _ body: () throws -> R) rethrows -> R {
    try engine.transaction {
      engine.setOrigin(origin)
      return try body()
    }
  }
}

/// The entity that stands for all changes: never stored, only observed.
private struct ChangeFeed: Identifiable, Sendable {
  let id: Int
}

// Unchecked, because its class above is; it adds no field.
private final class ChangeSource: ObserverSource<EntityChanges>, @unchecked Sendable {
  override var part: EntityChanges? { engine.presentChanges }
}

extension Engine {
  fileprivate var changeFeed: Node {
    let table = self.table(ChangeFeed.self)
    table.isInternal = true
    let node = table.nodeAwaiting(0)
    node.flags.insert(.unborn)
    changeFeedNode = node
    return node
  }

  /// Only the outermost transaction has an origin: what an enclosing one writes besides is not the origin's.
  fileprivate func setOrigin(_ origin: ObjectIdentifier) { lock.withLock { if depth == 1 { changeOrigin = origin } } }

  /// Notes what the transaction changed for those who observe changes.
  func noteChanges() {
    let origin = changeOrigin
    changeOrigin = nil
    guard !written.isEmpty else { return }
    let written = self.written
    self.written.removeAll()
    guard let feed = changeFeedNode, !feed.subscribers.isEmpty else { return }
    let originals = Dictionary(journal.map { (ObjectIdentifier($0.node), $0.state) }) { first, _ in first }
    var seen: Set<ObjectIdentifier> = []
    var entities: [any Identifiable & Sendable] = []
    for node in written where node.exists && !node.table.isInternal && seen.insert(ObjectIdentifier(node)).inserted {
      if let original = originals[ObjectIdentifier(node)], !node.differs(from: original) { continue }
      refresh(node)
      if let entity = node.entity { entities.append(entity) }
    }
    guard !entities.isEmpty else { return }
    presentChanges = EntityChanges(entities: entities, origin: origin)
    for subscriber in feed.subscribers { subscriber.note() }
    presentChanges = nil
  }
}
