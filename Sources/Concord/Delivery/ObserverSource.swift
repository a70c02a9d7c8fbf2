/// The source of an `EntityObserver`'s values, which holds the entity.
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

  /// The value of a source that is derived from other sources, made without the lock.
  @usableFromInline var derivedValue: Value {
    // No data leads here. Sources are made for nodes that have a value, or for parts that always have one, and a removed entity
    // keeps its last value; there is no `Value` to return instead.
    preconditionFailure("an entity that is observed has, or had, a value")
  }

  @inlinable final func currentValue(_ core: StoreCore) -> Value? {
    node.use(in: core) { node in
      if node.isStale { core.refresh(node) }
      if let entity = node.typed(Value.self) { return entity.value }
      return part(core, isCommitted: false)
    }
  }

  /// Returns the last committed value. Specialised for the type, and not inlined, to limit code size.
  @inlinable @inline(never) final func committedValue(_ core: StoreCore) -> Value? {
    node.use(in: core) { node in
      // A flat entity contains nothing that has to be brought up to date.
      if !node.table.isAggregate, let saved = core.committedState(of: node)?.typed(Value.self) { return saved.value }
      return madeValue(core, isCommitted: true)
    }
  }

  /// Returns the value where it cannot just be read: of a part, or of an aggregate as it was committed.
  @usableFromInline final func madeValue(_ core: StoreCore, isCommitted: Bool) -> Value? {
    node.use(in: core) { node in
      if isCommitted, let entity = node.typed(Value.self) { return core.view.value(of: entity) }
      return part(core, isCommitted: isCommitted)
    }
  }

  /// Returns the value if it is a part of the entity, or derived from it.
  @usableFromInline func part(_ core: StoreCore, isCommitted: Bool) -> Value? { nil }

  // MARK: What observers are told

  /// Whether the value is the entity itself.
  @inlinable final var isWhole: Bool { node.isNode(of: Value.self) }

  /// Returns the value to deliver to an observer; `nil` if there is none.
  @inlinable final func value(_ core: StoreCore, for occasion: Occasion) -> Value? {
    let presence = node.use(in: core) { core.present($0, isWhole: isWhole, for: occasion) }
    return switch presence {
    case .nothing: nil
    case .current: currentValue(core)
    case .committed: committedValue(core)
    }
  }

  /// Whether the entity was removed.
  var isRemoved: Bool {
    shared.read(0) { core, isCommitted in
      guard isWhole else { return isAbsent(core, isCommitted) }
      return node.use(in: core) { !(isCommitted ? core.view.exists($0) : $0.exists) }
    }
  }

  /// Whether the observed value is a `nil` that shows the absence of an entity.
  func isAbsent(_ core: StoreCore, _ isCommitted: Bool) -> Bool { false }

  // MARK: For derived observers

  /// The nodes on whose changes the value depends.
  var anchors: [NodeHandle] { [handle] }

  /// Reads, with the lock, the values from which the returned function makes the value without the lock. The source must have
  /// a value.
  func capture(_ core: StoreCore, _ isCommitted: Bool) -> @Sendable () -> Value {
    let value = isCommitted ? committedValue(core) : currentValue(core)
    return { [self] in value ?? derivedValue }
  }

  /// Whether there is no committed value yet.
  func isUnborn(_ core: StoreCore) -> Bool {
    isWhole && node.use(in: core) { !core.view.wasCommitted($0) }
  }

  /// The identity that two observers of the same share.
  var identity: ObjectIdentifier { isWhole ? node.identity : ObjectIdentifier(self) }

  // MARK: Subscribing

  /// Whether the value is derived from another source.
  @usableFromInline var isDerived: Bool { false }

  @usableFromInline func subscribeToBase(
    _ line: DeliveryLine, _ buffering: Buffering, isHere: Bool, at site: CallSite?,
    _ onChange: @escaping @Sendable (Value) -> Void
  ) -> Subscription {
    // Only called if `isDerived`, and the one class that overrides that overrides this method, too.
    preconditionFailure("a derived source says how")
  }

  /// Subscribes a callback. Specialised for the value's type in the caller's module, as the call that it makes is.
  @inlinable final func subscribe(
    _ line: DeliveryLine, _ buffering: Buffering, isHere: Bool = true, at site: CallSite? = nil,
    _ onChange: @escaping @Sendable (Value) -> Void
  ) -> Subscription {
    if isDerived { return subscribeToBase(line, buffering, isHere: isHere, at: site, onChange) }
    // Unsafe to the compiler, which cannot see that the call maker keeps the source for as long as it is asked, which it is with
    // the lock; the source may go once that is given back.
    nonisolated(unsafe) let source = Borrowed(self)
    return subscribe(line, as: Value.self, buffering, isHere: isHere, at: site) { core, occasion, tellingNow in
      guard let value = source.use({ $0.value(core, for: occasion) }) else {
        tellingNow?.use { $0.unlockToTell() }
        return nil
      }
      guard let tellingNow else { return Call { onChange(value) } }
      tellingNow.use { $0.unlockToTell() }
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
    // The changes of an open transaction are delivered when it has ended.
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
