/// A source that combines several: their values are read in one state, and observers are notified once a transaction.
///
/// Its value is a function that makes the combined value. That may run the user's code, and so has to run without the lock.
// Unchecked, because its superclass is; what it adds never changes.
final class CombinedSource<Value: Sendable>: ObserverSource<@Sendable () -> Value>, @unchecked Sendable {
  /// The combined sources, which retain their entities.
  private let parts: [any CombinedPart]
  private let take: @Sendable (StoreCore, Bool) -> @Sendable () -> Value

  /// The lock is held.
  init(
    _ parts: [any CombinedPart], _ core: StoreCore, _ shared: SharedCore,
    _ take: @escaping @Sendable (StoreCore, Bool) -> @Sendable () -> Value
  ) {
    self.parts = parts
    self.take = take
    let hub = RelayHub(parts.flatMap(\.anchors).map { $0.node(in: core) }, core, shared)
    super.init(hub.node, shared)
  }

  /// Returns the function; `nil` as long as one of the sources was never committed.
  override func part(_ core: StoreCore, isCommitted: Bool) -> (@Sendable () -> Value)? {
    isCommitted && isUnborn(core) ? nil : take(core, isCommitted)
  }

  override var holdsNodeOnly: Bool { false }
  override var derivedValue: @Sendable () -> Value { shared.readCommitted { take($0, true) } }
  override func isUnborn(_ core: StoreCore) -> Bool { parts.contains { $0.isUnborn(core) } }
}

/// A part of a combined source, whatever the type of its value.
protocol CombinedPart: Sendable {
  var shared: SharedCore { get }
  var anchors: [NodeHandle] { get }
  func isUnborn(_ core: StoreCore) -> Bool
}

extension ObserverSource: CombinedPart {}

/// A hub that is notified of changes to some entities for as long as it is observed.
final class RelayHub: Hub {
  private var relays: [Relay] = []

  init(_ nodes: [Node], _ core: StoreCore, _ shared: SharedCore) {
    super.init(level: (nodes.compactMap { core.hubs.hub(at: $0)?.level }.max() ?? 0) + 1, core)
    var seen: Set<ObjectIdentifier> = []
    for node in nodes where seen.insert(ObjectIdentifier(node)).inserted {
      relays.append(Relay(to: self, from: node, shared))
    }
  }

  override func detach(_ core: StoreCore) {
    for relay in relays { relay.detach(core) }
    relays = []
  }
}
