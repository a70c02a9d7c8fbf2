/// What an `EntityObserver` observes; holds it.
// Unchecked, because a class that can be inherited from has to be; what it has never changes.
@usableFromInline class ObserverSource<Value: Sendable>: AnySource, @unchecked Sendable {
  /// The store's lock is held.
  @usableFromInline override init(_ node: Node, _ shared: SharedCore) { super.init(node, shared) }

  // MARK: Reading

  /// The current value; of a removed entity the last one.
  @inlinable final var value: Value {
    switch readValue() {
    case .some(let value): return value
    case .none: return derivedValue
    }
  }

  @inlinable @inline(__always) final func readValue() -> Value? {
    shared.read(0) { core, isCommitted in isCommitted ? committedValue(core) : currentValue(core) }
  }

  /// The value of a source that is made of others' values, without the lock.
  @usableFromInline var derivedValue: Value {
    // No data leads here. Sources are made of nodes that have a value, or of parts that always give one, and a removed entity
    // keeps its last; there is no `Value` to return instead.
    preconditionFailure("an entity that is observed has, or had, a value")
  }

  @inlinable final func currentValue(_ core: StoreCore) -> Value? {
    node.use(in: core) { node in
      if node.isStale { core.refresh(node) }
      if let entity = node.typed(Value.self) { return entity.value }
      return part(core, isCommitted: false)
    }
  }

  /// The value that was last committed. Specialised for the type; once, since it is much code.
  @inlinable @inline(never) final func committedValue(_ core: StoreCore) -> Value? {
    node.use(in: core) { node in
      // What contains no entities shows nothing that is to be brought up to date.
      if !node.table.isAggregate, let saved = core.committedState(of: node)?.typed(Value.self) { return saved.value }
      return madeValue(core, isCommitted: true)
    }
  }

  /// The same of what is not just read: a part, or an aggregate as it was committed.
  @usableFromInline final func madeValue(_ core: StoreCore, isCommitted: Bool) -> Value? {
    node.use(in: core) { node in
      if isCommitted, let entity = node.typed(Value.self) { return core.view.value(of: entity) }
      return part(core, isCommitted: isCommitted)
    }
  }

  /// A part of the entity, or something made of it, if the value is not the entity itself.
  @usableFromInline func part(_ core: StoreCore, isCommitted: Bool) -> Value? { nil }

  // MARK: What observers are told

  /// Whether the value is the entity itself.
  @inlinable final var isWhole: Bool { node.isNode(of: Value.self) }

  /// What an observer is to be told; `nil` if nothing.
  @inlinable final func value(_ core: StoreCore, for occasion: Occasion) -> Value? {
    let presence = node.use(in: core) { core.present($0, isWhole: isWhole, for: occasion) }
    return switch presence {
    case .nothing: nil
    case .current: currentValue(core)
    case .committed: committedValue(core)
    }
  }

  /// Whether the entity is gone.
  var isRemoved: Bool {
    shared.read(0) { core, isCommitted in
      guard isWhole else { return isAbsent(core, isCommitted) }
      return node.use(in: core) { !(isCommitted ? core.view.exists($0) : $0.exists) }
    }
  }

  /// Whether what is observed shows that there is nothing.
  func isAbsent(_ core: StoreCore, _ isCommitted: Bool) -> Bool { false }

  // MARK: What others make of it

  /// The nodes whose changes change the value.
  var anchors: [NodeHandle] { [handle] }

  /// Takes what the value is to be made of, with the lock; the function makes it, without. Only a source that has a value.
  func capture(_ core: StoreCore, _ isCommitted: Bool) -> @Sendable () -> Value {
    let value = isCommitted ? committedValue(core) : currentValue(core)
    return { [self] in value ?? derivedValue }
  }

  /// Whether there is no committed value yet.
  func isUnborn(_ core: StoreCore) -> Bool {
    isWhole && node.use(in: core) { !core.view.wasCommitted($0) }
  }

  /// What two observers have in common if they observe the same.
  var identity: ObjectIdentifier { isWhole ? node.identity : ObjectIdentifier(self) }

  // MARK: Subscribing

  /// Whether the value is made of another source's.
  @usableFromInline var isDerived: Bool { false }

  @usableFromInline func subscribeToBase(
    _ line: DeliveryLine, _ buffering: Buffering, isHere: Bool, _ onChange: @escaping @Sendable (Value) -> Void
  ) -> Subscription {
    // Only called where `isDerived`, and the one class that says so overrides this, too.
    preconditionFailure("a derived source says how")
  }

  /// Specialised for the value where it is called, and so is the call that it makes.
  @inlinable final func subscribe(
    _ line: DeliveryLine, _ buffering: Buffering, isHere: Bool = true,
    _ onChange: @escaping @Sendable (Value) -> Void
  ) -> Subscription {
    if isDerived { return subscribeToBase(line, buffering, isHere: isHere, onChange) }
    // Unsafe to the compiler, which cannot see that the call maker keeps the source for as long as it is asked, which it is with
    // the lock; the source may go once that is given back.
    nonisolated(unsafe) let source = Borrowed(self)
    return subscribe(line, as: Value.self, buffering, isHere: isHere) { core, occasion, tellingNow in
      guard let value = source.use({ $0.value(core, for: occasion) }) else {
        tellingNow?.unlockToTell()
        return nil
      }
      guard let tellingNow else { return Call { onChange(value) } }
      tellingNow.unlockToTell()
      onChange(value)
      return nil
    }
  }
}

extension StoreCore {
  @usableFromInline func committedState(of node: Node) -> SavedState? { graph.journal.committedState(of: node) }

  @usableFromInline func present(_ node: Node, isWhole: Bool, for occasion: Occasion) -> Presence {
    guard isPresent(node, isWhole: isWhole, for: occasion) else { return .nothing }
    guard turns.isOpen else { return .current }
    // What the open transaction did, and does yet, is told when it has ended.
    compareAtCommit(node)
    return .committed
  }

  func isPresent(_ node: Node, isWhole: Bool, for occasion: Occasion) -> Bool {
    guard isWhole else { return true }
    return switch occasion {
    case .change: turns.isOpen ? view.exists(node) : node.exists
    case .beginning: view.wasCommitted(node)
    }
  }
}
