/// What an `EntityObserver` observes; keeps it alive.
// Unchecked, because of the unmanaged reference: it never changes, and the node behind it is used only while the engine's
// lock is held.
@usableFromInline class ObserverSource<Value: Sendable>: @unchecked Sendable {
  /// The table keeps a node that has a holder, and the source is one; it keeps the engine by a retain of its own, not by a
  /// property, since there may be as many sources as entities.
  @usableFromInline final let nodeReference: Unmanaged<Node>

  @inlinable @inline(__always) final var node: Node { nodeReference._withUnsafeGuaranteedRef { $0 } }

  /// The engine's lock is held.
  @inlinable init(_ reference: NodeRef) {
    nodeReference = reference.unmanaged
    reference.with { node in
      node.addHolder()
      node.withEngine { _ = Unmanaged.passUnretained($0).retain() }
    }
  }

  deinit {
    let engine = nodeReference._withUnsafeGuaranteedRef { node in
      let engine = node.withTable { $0.engineReference }
      if !node.removeHolderButTheLast() { engine._withUnsafeGuaranteedRef { $0.removeHolder(of: node) } }
      return engine
    }
    engine.release()
  }

  @inlinable @inline(__always) final var engine: Engine { node.table.engine }

  /// The node is that of an entity, and its value what is observed.
  @inlinable @inline(__always) final var isWhole: Bool {
    node.withTable { $0.valueType == ObjectIdentifier(Value.self) }
  }

  /// What observers are to be told now; `nil` if nothing. The lock is held and the node up to date.
  @inlinable @inline(__always) final var present: Value? { isWhole ? (node.exists ? whole : nil) : part }

  /// The current value.
  @inlinable final var value: Value {
    nodeReference._withUnsafeGuaranteedRef { node in
      node.withEngine { engine in
        engine.read {
          if engine.owner != 0 || node.isDirty { engine.prepareToRead(node) }
          return latest(of: node)
        }
      }
    }
  }

  /// The present value; of a removed entity the last one.
  @inlinable @inline(__always) final func latest(of node: Node) -> Value {
    node.withTable { $0.valueType == ObjectIdentifier(Value.self) } ? whole(of: node) : latestPart
  }

  /// What an observer is told first, or when it resumes: of a removed entity its last value, of one whose birth was undone
  /// nothing.
  @inlinable final var firstValue: Value? { isWhole && node.flags.contains(.unborn) ? nil : (isWhole ? whole : part) }

  @inlinable final var whole: Value { whole(of: node) }

  // A source of a whole entity is made of a node that exists, and a node that had a value once always has one.
  @inlinable @inline(__always) final func whole(of node: Node) -> Value {
    unsafeDowncast(node, to: ValueNode<Value>.self).value.unsafelyUnwrapped
  }

  /// What `present` is if the source is not an entity's own.
  @inlinable var part: Value? { nil }
  // Only a `PartSource` is read, and it always has a part; the source of changes is only observed.
  @inlinable var latestPart: Value { part.unsafelyUnwrapped }

  @inlinable final func subscribe(
    lane: Lane, _ onChange: @escaping @Sendable (Value) -> Void
  ) -> Subscription {
    let subscriber = Subscriber(self, lane: lane, onChange: onChange)
    let first: Value? = engine.read {
      let value = engine.committed(node) { firstValue }
      node.addSubscriber(subscriber)
      engine.subscribed(to: node)
      return value
    }
    subscriber.start(with: first)
    return Subscription(subscriber)
  }
}

/// A part of an entity of the store's own, such as an alias's content; or an entity that may not be there.
// Unchecked, because its class above is; it adds a function that never changes.
@usableFromInline
final class PartSource<T: Identifiable & Sendable, Part: Sendable>: ObserverSource<Part>, @unchecked Sendable {
  @usableFromInline let makePart: @Sendable (T?) -> Part

  @inlinable init(node: EntityNode<T>, _ makePart: @escaping @Sendable (T?) -> Part) {
    self.makePart = makePart
    super.init(NodeRef(node: node))
  }

  @usableFromInline override var part: Part? {
    makePart(node.exists ? unsafeDowncast(node, to: EntityNode<T>.self).value : nil)
  }
}
