/// What an `EntityObserver` observes; keeps it alive.
// Unchecked: immutable; the node is guarded by the engine's lock
@usableFromInline class ObserverSource<Value: Sendable>: @unchecked Sendable {
  @usableFromInline final let node: Node

  /// The engine's lock is held. The source keeps the engine as well as the node: by a retain of its own rather than a
  /// property, since there may be as many sources as entities.
  @inlinable init(node: Node) {
    self.node = node
    node.holders += 1
    node.withEngine { _ = Unmanaged.passUnretained($0).retain() }
  }

  deinit {
    node.withEngine { engine in
      engine.releaseHolder(of: node)
      Unmanaged.passUnretained(engine).release()
    }
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
    node.withEngine { engine in
      engine.read {
        engine.prepareToRead(node)
        return latest
      }
    }
  }

  /// The present value; of a removed entity the last one. A node that had a value once always has one.
  @inlinable @inline(__always) final var latest: Value { isWhole ? whole : latestPart }

  /// What an observer is told first, or when it resumes: of a removed entity its last value, of one whose birth was undone
  /// nothing.
  @inlinable final var firstValue: Value? { isWhole && node.flags.contains(.unborn) ? nil : (isWhole ? whole : part) }

  @inlinable final var whole: Value { unsafeDowncast(node, to: ValueNode<Value>.self).value.unsafelyUnwrapped }

  /// What `present` is if the source is not an entity's own.
  @inlinable var part: Value? { nil }
  @inlinable var latestPart: Value { part.unsafelyUnwrapped }

  @inlinable final func subscribe(
    lane: Lane, _ onChange: @escaping @Sendable (Value) -> Void
  ) -> Subscription {
    let subscriber = Subscriber(self, lane: lane, onChange: onChange)
    let first: Value? = engine.read {
      let value = engine.committed(node) { firstValue }
      node.subscribers.append(subscriber)
      engine.subscribed(to: node)
      return value
    }
    subscriber.start(with: first)
    return Subscription(subscriber)
  }
}

/// A part of an entity of the store's own, such as an alias's content; or an entity that may not be there.
// Unchecked: as `ObserverSource`; it adds an immutable function.
@usableFromInline
final class PartSource<T: Identifiable & Sendable, Part: Sendable>: ObserverSource<Part>, @unchecked Sendable {
  @usableFromInline let makePart: @Sendable (T?) -> Part

  @inlinable init(node: EntityNode<T>, _ makePart: @escaping @Sendable (T?) -> Part) {
    self.makePart = makePart
    super.init(node: node)
  }

  @usableFromInline override var part: Part? {
    makePart(node.exists ? unsafeDowncast(node, to: EntityNode<T>.self).value : nil)
  }
}
