extension EntityStore {
  /// Returns the stored entities of a type that meet a condition, in no particular order.
  ///
  /// ```swift
  /// let late = store.all(Order.self) { $0.isLate }.sorted { $0.date < $1.date }
  /// ```
  ///
  /// The values are of one committed state, or, inside a transaction, of the transaction's state.
  ///
  /// - Parameters:
  ///   - type: the type of the entities.
  ///   - isIncluded: the condition; it may use the store.
  /// - Complexity: the number of stored entities of the type.
  public func all<T: Identifiable & Sendable>(_ type: T.Type, where isIncluded: (T) throws -> Bool) rethrows -> [T] {
    try all(type).filter(isIncluded)
  }

  /// Returns all stored entities of a type, in no particular order.
  ///
  /// - Complexity: the number of stored entities of the type.
  public func all<T: Identifiable & Sendable>(_ type: T.Type) -> [T] {
    shared.read(token) { core, isCommitted in core.values(of: core.nodes(of: type, isCommitted), isCommitted) }
  }

  /// Returns the number of stored entities of a type.
  ///
  /// ```swift
  /// print(store.count(Order.self), store.count(Order.self) { $0.isLate })
  /// ```
  ///
  /// - Complexity: the number of stored entities of the type.
  public func count<T: Identifiable & Sendable>(_ type: T.Type) -> Int {
    shared.read(token) { core, isCommitted in core.nodes(of: type, isCommitted).count }
  }

  /// Returns the number of stored entities of a type that meet a condition.
  ///
  /// - Parameters:
  ///   - type: the type of the entities.
  ///   - isIncluded: the condition. It is called on the calling thread, without any lock, and may use the store.
  /// - Complexity: the number of stored entities of the type.
  public func count<T: Identifiable & Sendable>(
    _ type: T.Type, where isIncluded: (T) throws -> Bool
  ) rethrows -> Int {
    try all(type).count(where: isIncluded)
  }

  /// Observes the entities of a type that meet a condition, as they are stored and removed. The observer retains none of them.
  ///
  /// ```swift
  /// let late = store.observer(all: Order.self) { $0.isLate }
  /// let subscription = late.observe { orders in print(orders.count, "late") }
  /// ```
  ///
  /// Entities are listed in the order in which they were stored; those that were stored when the first such observer was made
  /// come first, in no particular order. Observers are called once for each transaction that changes the list.
  ///
  /// - Parameters:
  ///   - type: the type of the entities.
  ///   - isIncluded: the condition. It is called where observers are, and may use the store.
  /// - Complexity: the number of stored entities of the type, also for each notice and each reading.
  public func observer<T: Identifiable & Sendable>(
    all type: T.Type, where isIncluded: @escaping @Sendable (T) -> Bool
  ) -> EntityObserver<[T]> {
    shared.read(token) { core, _ in
      EntityObserver(
        DerivedSource(ListSource<T>(core, shared), core, isSame: haveSameElements) { $0.filter(isIncluded) })
    }
  }

  /// Observes all entities of a type, as they are stored and removed. The observer retains none of them.
  ///
  /// - Complexity: the number of stored entities of the type, also for each notice and each reading.
  public func observer<T: Identifiable & Sendable>(all type: T.Type) -> EntityObserver<[T]> {
    shared.read(token) { core, _ in
      EntityObserver(DerivedSource(ListSource<T>(core, shared), core, isSame: haveSameElements) { $0 })
    }
  }
}

extension StoreCore {
  /// Returns the nodes of all stored entities of a type.
  func nodes<T: Identifiable & Sendable>(of type: T.Type, _ isCommitted: Bool) -> [EntityNode<T>] {
    graph.table(type).index.all.compactMap { exists($0, isCommitted) ? $0.typed(type) : nil }
  }

  func values<T: Identifiable & Sendable>(of nodes: [EntityNode<T>], _ isCommitted: Bool) -> [T] {
    nodes.compactMap { node in
      if isCommitted { return committedValue(of: node) }
      if node.isStale { refresh(node) }
      return node.value
    }
  }
}

/// A source of all entities of a type, which retains none of them.
// Unchecked, because its superclass is; it adds no field.
private final class ListSource<T: Identifiable & Sendable>: ObserverSource<[T]>, @unchecked Sendable {
  /// The lock is held.
  init(_ core: StoreCore, _ shared: SharedCore) { super.init(Listing<T>.of(core, shared).node, shared) }

  override func part(_ core: StoreCore, isCommitted: Bool) -> [T]? {
    let nodes = core.nodes(of: T.self, isCommitted)
    let listing = core.hubs.listings[ObjectIdentifier(T.self)] as? Listing<T>
    return core.values(of: listing?.sort(nodes) ?? nodes, isCommitted)
  }
}

/// The list of a type's entities, maintained for as long as it is observed.
private final class Listing<T: Identifiable & Sendable>: Hub {
  private let shared: SharedCore
  private var members: [ObjectIdentifier: ListedEntity] = [:]
  private var arrivals: UInt64 = 0
  /// Whether entities may have been stored or removed unnoticed.
  private var mustSearch: Bool

  private struct ListedEntity {
    let relay: Relay
    let arrival: UInt64
  }

  /// Returns the store's list of the type, made if there is none.
  static func of(_ core: StoreCore, _ shared: SharedCore) -> Hub {
    if let known = core.hubs.listings[ObjectIdentifier(T.self)], known.node.holders.count > 0 { return known }
    return Listing(core, shared)
  }

  private init(_ core: StoreCore, _ shared: SharedCore) {
    self.shared = shared
    mustSearch = core.turns.isOpen
    super.init(level: 0, core)
    core.hubs.listings[ObjectIdentifier(T.self)] = self
    for node in core.nodes(of: T.self, core.turns.isOpen) { add(node) }
  }

  private func add(_ node: Node) {
    arrivals += 1
    members[ObjectIdentifier(node)] = ListedEntity(relay: Relay(to: self, from: node, shared), arrival: arrivals)
  }

  /// Returns nodes in the order in which they were stored.
  func sort(_ nodes: [EntityNode<T>]) -> [EntityNode<T>] {
    nodes.map { (node: $0, arrival: members[ObjectIdentifier($0)]?.arrival ?? .max) }
      .sorted { $0.arrival < $1.arrival }.map(\.node)
  }

  override func update(_ core: StoreCore) {
    let table = core.graph.table(T.self)
    for node in mustSearch ? ContiguousArray(table.allNodes()) : core.graph.written.all where node.table === table {
      let known = members[ObjectIdentifier(node)]
      guard node.exists != (known != nil) else { continue }
      core.hubs.didChange(self)
      if let known {
        known.relay.detach(core)
        members[ObjectIdentifier(node)] = nil
      } else {
        add(node)
      }
    }
    mustSearch = false
  }

  override func detach(_ core: StoreCore) {
    for member in members.values { member.relay.detach(core) }
    members = [:]
    if core.hubs.listings[ObjectIdentifier(T.self)] === self { core.hubs.listings[ObjectIdentifier(T.self)] = nil }
  }
}
