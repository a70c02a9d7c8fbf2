/// Somebody who is told of new values, whatever their type.
// Unchecked, because the compiler cannot see what a lock guards: `position` and `kept` are used only while the engine's is
// held, and all else never changes.
@usableFromInline class AnySubscriber: @unchecked Sendable {
  /// The engine keeps its lanes.
  @usableFromInline final let laneReference: Unmanaged<Lane>
  @usableFromInline let noting: (AnySubscriber) -> Void
  @usableFromInline let taking: (AnySubscriber) -> Void
  @usableFromInline let calling: (AnySubscriber) -> Void
  /// Where the node has it. Guarded by the engine's lock.
  @exclusivity(unchecked) final var position = -1
  /// The source, which keeps the entity, until the subscription has ended. Guarded by the engine's lock.
  @exclusivity(unchecked) @usableFromInline final var kept: AnyObject?

  /// The functions know the type, and are specialised for it, as overridden methods could not be.
  @usableFromInline init(
    lane: Lane, keeping source: AnyObject, note: @escaping (AnySubscriber) -> Void,
    take: @escaping (AnySubscriber) -> Void, call: @escaping (AnySubscriber) -> Void
  ) {
    laneReference = Unmanaged.passUnretained(lane)
    kept = source
    noting = note
    taking = take
    calling = call
  }

  @inlinable @inline(__always) final var lane: Lane { laneReference.takeUnretainedValue() }

  /// Puts the present value into the box. The engine's lock is held.
  @inlinable @inline(__always) final func note() { noting(self) }
  /// Takes the oldest value out of the box. The lane's lock is held.
  @inlinable @inline(__always) final func take() { taking(self) }
  /// Calls back with the value taken.
  @inlinable @inline(__always) final func call() { calling(self) }
}

/// Somebody who is told of new values of a type.
// Unchecked, because the compiler cannot see what a lock guards: the variables are used only while the lane's is held, but
// for `hand` and `dropsHand`, which belong to the one thread that delivers on the lane.
@usableFromInline final class Subscriber<Value: Sendable>: AnySubscriber, @unchecked Sendable {
  @usableFromInline enum Phase { case starting, active, paused, over }

  @usableFromInline let engine: Engine
  @usableFromInline let node: Node
  /// Valid as long as it is `kept`.
  @usableFromInline let sourceReference: Unmanaged<ObserverSource<Value>>
  @usableFromInline let onChange: @Sendable (Value) -> Void

  // Guarded by the lane's lock.
  @exclusivity(unchecked) @usableFromInline var phase = Phase.starting
  @exclusivity(unchecked) @usableFromInline var box = Mailbox<Value>()
  /// Turns in the line that came before the first call had returned.
  @exclusivity(unchecked) @usableFromInline var missedTurns = 0
  /// A value came while paused.
  @exclusivity(unchecked) @usableFromInline var missedValue = false
  @exclusivity(unchecked) @usableFromInline var pausedWhileStarting = false

  // Belongs to whoever delivers.
  @exclusivity(unchecked) @usableFromInline var hand: Value?
  /// The observer was paused before the value was taken.
  @exclusivity(unchecked) @usableFromInline var dropsHand = false

  @inlinable init(_ source: ObserverSource<Value>, lane: Lane, onChange: @escaping @Sendable (Value) -> Void) {
    engine = source.engine
    node = source.node
    sourceReference = Unmanaged.passUnretained(source)
    self.onChange = onChange
    super.init(
      lane: lane, keeping: source,
      note: { unsafeDowncast($0, to: Subscriber<Value>.self).putIntoBox() },
      take: { unsafeDowncast($0, to: Subscriber<Value>.self).takeFromBox() },
      call: { unsafeDowncast($0, to: Subscriber<Value>.self).callBack() })
  }

  @inlinable var source: ObserverSource<Value> { sourceReference.takeUnretainedValue() }

  @inlinable func putIntoBox() {
    laneReference._withUnsafeGuaranteedRef { lane in
      sourceReference._withUnsafeGuaranteedRef { source in
        lane.lock.lock()
        switch phase {
        case .over: break
        case .paused: if source.present != nil { missedValue = true }
        case .starting, .active: if box.append(source.present) { lane.lineUp(self) }
        }
        lane.lock.unlock()
      }
    }
  }

  @inlinable func takeFromBox() {
    switch phase {
    case .over: break
    case .starting: missedTurns += 1
    case .paused:
      // Taken all the same, to be destroyed without a lock.
      hand = box.removeFirst()
      dropsHand = true
      if hand != nil { missedValue = true }
    case .active:
      hand = box.removeFirst()
      dropsHand = false
    }
  }

  @inlinable func callBack() {
    guard let value = hand.take(), !dropsHand else { return }
    onChange(value)
  }

  /// Calls back with the first value, if there is one, and lets later ones come after it.
  @inlinable func start(with first: Value?) {
    if let first { onChange(first) }
    lane.withLock {
      guard phase == .starting else { return }
      phase = pausedWhileStarting ? .paused : .active
      for _ in 0..<missedTurns { lane.lineUp(self) }
      missedTurns = 0
    }
    lane.deliver()
  }

  /// No callback begins from here on. Never waits.
  @inlinable func end() {
    let isFirst = lane.withLock {
      guard phase != .over else { return (false, Mailbox<Value>()) }
      phase = .over
      let rest = box
      box = Mailbox()
      // The values are destroyed without the lock.
      return (true, rest)
    }
    if isFirst.0 { engine.release(self, from: node) }
  }

  @inlinable func pause() {
    lane.withLock {
      if phase == .active { phase = .paused }
      if phase == .starting { pausedWhileStarting = true }
    }
  }

  @inlinable func resume() {
    let missed = engine.read { () -> Mailbox<Value> in
      var missed = Mailbox<Value>()
      guard kept != nil else { return missed }
      let value = engine.committed(node) { source.firstValue }
      lane.withLock {
        pausedWhileStarting = false
        guard phase == .paused else { return }
        phase = .active
        guard missedValue else { return }
        missedValue = false
        swap(&box, &missed)
        if box.append(value) { lane.lineUp(self) }
      }
      return missed
    }
    // Destroyed without the locks.
    withExtendedLifetime(missed) {}
    lane.deliver()
  }
}
