/// What an `EntityObserver` observes; holds it.
// Unchecked, because a class that can be inherited from has to be; what it has never changes.
@usableFromInline class ObserverSource<Value: Sendable>: @unchecked Sendable {
  @usableFromInline final let handle: NodeHandle
  @usableFromInline final let shared: SharedCore

  /// The store's lock is held.
  @usableFromInline init(_ node: Node, _ shared: SharedCore) {
    handle = NodeHandle(node)
    self.shared = shared
    node.holders.add()
  }

  deinit {
    if !handle.removeHolderUnlessLast() { shared.releaseHolder(of: handle) }
  }

  // MARK: Reading

  /// The current value; of a removed entity the last one.
  @inlinable final var value: Value {
    let value = shared.read(0) { core, isCommitted in
      isCommitted ? committedValue(core) : currentValue(core)
    }
    guard let value else { preconditionFailure("an entity that is observed has, or had, a value") }
    return value
  }

  @inlinable final func currentValue(_ core: StoreCore) -> Value? {
    let node = handle.node(in: core)
    if node.isStale { core.refresh(node) }
    if let entity = node.typed(Value.self) { return entity.value }
    return part(core, isCommitted: false)
  }

  @usableFromInline final func committedValue(_ core: StoreCore) -> Value? {
    let node = handle.node(in: core)
    if let entity = node.typed(Value.self) { return core.view.value(of: entity) }
    return part(core, isCommitted: true)
  }

  /// A part of the entity, or something made of it, if the value is not the entity itself.
  @usableFromInline func part(_ core: StoreCore, isCommitted: Bool) -> Value? { nil }

  // MARK: What observers are told

  private var isWhole: Bool { handle.isNode(of: Value.self) }

  /// What observers are to be told now; `nil` if nothing, because the entity is gone.
  final func present(_ core: StoreCore) -> Value? {
    isPresent(core) ? newest(core) : nil
  }

  final func isPresent(_ core: StoreCore) -> Bool {
    !isWhole || (core.turns.isOpen ? core.view.exists(handle.node(in: core)) : handle.node(in: core).exists)
  }

  /// What an observer is told first, or when it resumes: of a removed entity its last value, of one that was never committed
  /// nothing.
  final func firstValue(_ core: StoreCore) -> Value? {
    isWhole && !core.view.wasCommitted(handle.node(in: core)) ? nil : newest(core)
  }

  /// The newest committed value.
  private func newest(_ core: StoreCore) -> Value? {
    guard core.turns.isOpen else { return currentValue(core) }
    // What the open transaction did, and does yet, is told when it has ended.
    core.compareAtCommit(handle.node(in: core))
    return committedValue(core)
  }

  /// Whether the entity is gone.
  final var isRemoved: Bool {
    shared.read(0) { core, isCommitted in
      let node = handle.node(in: core)
      return isWhole ? !(isCommitted ? core.view.exists(node) : node.exists) : isAbsent(core, isCommitted)
    }
  }

  /// Whether what is observed shows that there is nothing.
  func isAbsent(_ core: StoreCore, _ isCommitted: Bool) -> Bool { false }

  final func subscribe(
    _ line: DeliveryLine, _ buffering: Buffering, isHere: Bool = true,
    _ onChange: @escaping @Sendable (Value) -> Void
  ) -> Subscription {
    let subscriber = Subscriber(self, line: line, buffering: buffering, onChange: onChange)
    let first = shared.readCommitted { core in
      let first = firstValue(core)
      let node = handle.node(in: core)
      node.addSubscriber(subscriber)
      if core.turns.isOpen { core.compareAtCommit(node) }
      core.feed.update()
      return first
    }
    subscriber.start(with: first, isHere: isHere)
    return Subscription(subscriber)
  }
}

/// A part of an entity of the store's own, such as an alias's content; or an entity that may not be there.
// Unchecked, because its class above is; it adds functions that never change.
final class PartSource<T: Identifiable & Sendable, Part: Sendable>: ObserverSource<Part>, @unchecked Sendable {
  private let makePart: @Sendable (T?) -> Part
  private let isNothing: @Sendable (T?) -> Bool

  init(
    _ node: EntityNode<T>, _ shared: SharedCore, isNothing: @escaping @Sendable (T?) -> Bool = { $0 == nil },
    _ makePart: @escaping @Sendable (T?) -> Part
  ) {
    self.makePart = makePart
    self.isNothing = isNothing
    super.init(node, shared)
  }

  override func part(_ core: StoreCore, isCommitted: Bool) -> Part? { makePart(entity(core, isCommitted)) }
  override func isAbsent(_ core: StoreCore, _ isCommitted: Bool) -> Bool { isNothing(entity(core, isCommitted)) }

  private func entity(_ core: StoreCore, _ isCommitted: Bool) -> T? {
    guard let node = handle.node(in: core).typed(T.self) else { return nil }
    if isCommitted { return core.view.exists(node) ? core.view.value(of: node) : nil }
    if node.isStale { core.refresh(node) }
    return node.exists ? node.value : nil
  }
}

/// All changes of a store.
// Unchecked, because its class above is; it adds no field.
final class ChangeSource: ObserverSource<ChangeSet>, @unchecked Sendable {
  override func part(_ core: StoreCore, isCommitted: Bool) -> ChangeSet? { core.feed.present }
}
