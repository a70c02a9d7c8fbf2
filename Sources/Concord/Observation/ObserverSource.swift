/// What an `EntityObserver` observes; keeps it alive.
class ObserverSource<Value: Sendable>: @unchecked Sendable {  // immutable; the node is guarded by the engine's lock
  final let engine: Engine
  final let node: Node

  /// The engine's lock is held.
  init(engine: Engine, node: Node) {
    self.engine = engine
    self.node = node
    node.holders += 1
  }

  deinit { engine.releaseHolder(of: node) }

  /// What observers are to be told now; `nil` if nothing. The lock is held and the node up to date.
  var present: Value? { nil }

  /// The current value.
  final var value: Value {
    engine.read {
      engine.prepareToRead(node)
      return latest
    }
  }

  /// The present value, or the last one there was.
  var latest: Value { fatalError("ObserverSource is abstract") }

  final func subscribe(
    lane: Lane, _ onChange: @escaping @Sendable (Value) -> Void
  ) -> Subscription {
    let subscriber = Subscriber(self, lane: lane, onChange: onChange)
    let first: Value? = engine.read {
      let value = engine.committed(node) { node.flags.contains(.unborn) ? nil : latest }
      node.subscribers.append(subscriber)
      engine.subscribed(to: node)
      return value
    }
    subscriber.start(with: first)
    return Subscription(subscriber)
  }

  final func end(_ subscriber: Subscriber<Value>) { engine.release(subscriber, from: node) }

  final func resume(_ subscriber: Subscriber<Value>, _ deliver: (Value?) -> Void) {
    engine.read { deliver(engine.committed(node) { present }) }
  }
}

/// An entity that was there when the observer was made.
final class EntitySource<T: Identifiable & Sendable>: ObserverSource<T>, @unchecked Sendable {
  /// `nil` if the node has never had a value. Once it has had one, it always has.
  init?(engine: Engine, node: EntityNode<T>) {
    guard node.value != nil else { return nil }
    super.init(engine: engine, node: node)
  }

  override var present: T? { node.exists ? latest : nil }
  override var latest: T { unsafeDowncast(node, to: EntityNode<T>.self).value.unsafelyUnwrapped }
}

/// A part of an entity of the store's own, such as an alias's content; or an entity that may not be there.
final class PartSource<T: Identifiable & Sendable, Part: Sendable>: ObserverSource<Part>, @unchecked Sendable {
  private let part: @Sendable (T?) -> Part

  init(engine: Engine, node: EntityNode<T>, _ part: @escaping @Sendable (T?) -> Part) {
    self.part = part
    super.init(engine: engine, node: node)
  }

  override var present: Part? { latest }
  override var latest: Part { part(node.exists ? unsafeDowncast(node, to: EntityNode<T>.self).value : nil) }
}
