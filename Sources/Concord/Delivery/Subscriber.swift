/// Somebody who is told of new values, whatever their type.
// Unchecked, because the compiler cannot see what a lock guards: `position` and `source` are used only while the store's is
// held, the rest only while the line's is, or never changes.
@usableFromInline class AnySubscriber: @unchecked Sendable {
  let line: DeliveryLine
  let shared: SharedCore
  let node: NodeHandle
  /// Where the node has it. Guarded by the store's lock.
  final var position = -1
  /// Each state is told, with the value of its commit.
  final let buffersValues: Bool
  /// Guarded by the line's lock.
  final var state = NoticeState()

  init(line: DeliveryLine, shared: SharedCore, node: NodeHandle, buffersValues: Bool) {
    self.line = line
    self.buffersValues = buffersValues
    self.shared = shared
    self.node = node
  }

  /// The value changed: a notice is enqueued. The store's lock is held, and the node exists or the source shows its absence.
  func didChange(_ core: StoreCore) {}
  /// The turn has come: takes the newest committed value, unless values are buffered. Both locks are held.
  func take(_ core: StoreCore) {}
  /// Calls back with what was taken, or with the oldest value that waits. No lock is held.
  func tell() {}
  /// Gives up the source, to be destroyed without a lock. The store's lock is held.
  func takeSource() -> AnyObject? { nil }
  /// Forgets what waits, because the entity was removed with all others. The store's lock is held.
  func dropPending() {}
}

/// Somebody who is told of new values of a type.
// Unchecked, as above.
@usableFromInline final class Subscriber<Value: Sendable>: AnySubscriber, @unchecked Sendable {
  private let onChange: @Sendable (Value) -> Void
  /// Holds the entity, until the subscription has ended. Guarded by the store's lock.
  private var source: ObserverSource<Value>?

  // Guarded by the line's lock.
  private var box: Mailbox<Value>
  /// Taken, and about to be told.
  private var taken: Value?

  init(
    _ source: ObserverSource<Value>, line: DeliveryLine, buffering: Buffering,
    onChange: @escaping @Sendable (Value) -> Void
  ) {
    self.onChange = onChange
    self.source = source
    let limit = line.tellsEachState ? Int.max : buffering.limit
    box = Mailbox(limit: limit ?? 0)
    super.init(line: line, shared: source.shared, node: source.handle, buffersValues: limit != nil)
  }

  // MARK: Being told

  override func didChange(_ core: StoreCore) {
    guard let source = source else { return }
    // Only a value that there is counts; the last one of a removed entity has been told.
    guard let value = buffersValues ? source.present(core) : nil else {
      if !buffersValues, source.isPresent(core) {
        line.withLock { if state.change(isBuffered: false) { line.enqueue(self) } }
      }
      return
    }
    let dropped = line.withLock { () -> Value? in
      guard state.change(isBuffered: true) else {
        // While the first call lasts values wait; while paused only the newest will count.
        return state.phase == .starting ? box.append(value) : nil
      }
      line.enqueue(self)
      return box.append(value)
    }
    withExtendedLifetime(dropped) {}
  }

  override func take(_ core: StoreCore) {
    guard !buffersValues, state.take(), let source = source else { return }
    taken = state.tellsLast ? source.firstValue(core) : source.present(core)
    state.didTake()
  }

  override func tell() {
    let (value, isTold) = line.withLock { () -> (Value?, Bool) in
      if buffersValues { return (box.takeFirst(), state.take()) }
      let value = taken.take()
      return (value, value != nil && state.tell())
    }
    if isTold, let value { onChange(value) }
  }

  override func takeSource() -> AnyObject? { source.take() }

  override func dropPending() {
    let dropped = line.withLock { () -> ([Value], Value?) in
      state.drop()
      return (box.takeAll(), taken.take())
    }
    withExtendedLifetime(dropped) {}
  }

  // MARK: Its life

  /// Tells the first value, if there is one, and lets later ones come after it. `isHere` calls back on this thread.
  func start(with first: Value?, isHere: Bool) {
    if let first {
      if isHere {
        onChange(first)
      } else {
        // Told in turn, like the others.
        let dropped = line.withLock { () -> Value? in
          if buffersValues { return box.append(first) }
          state.putOffFirst()
          return nil
        }
        withExtendedLifetime(dropped) {}
      }
    }
    line.withLock {
      guard state.start() || (buffersValues && box.count > 0 && state.phase == .active) else { return }
      for _ in 0..<(buffersValues ? box.count : 1) { line.enqueue(self) }
    }
    line.deliver()
  }

  func end() {
    let (isFirst, rest) = line.withLock { () -> (Bool, ([Value], Value?)) in
      guard state.end() else { return (false, ([], nil)) }
      // The values are destroyed without the lock.
      return (true, (box.takeAll(), taken.take()))
    }
    withExtendedLifetime(rest) {}
    if isFirst { shared.release(self) }
  }

  func pause() { line.withLock { state.pause() } }

  func resume() {
    shared.readCommitted { core in
      guard let source = source else { return }
      line.withLock {
        guard state.resume(isBuffered: buffersValues) else { return }
        if buffersValues, let value = source.firstValue(core) {
          _ = box.takeAll()
          _ = box.append(value)
        }
        line.enqueue(self)
      }
    }
    line.deliver()
  }
}
