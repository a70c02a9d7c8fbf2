/// A receiver of new values, whatever their type.
// Unchecked, because the compiler cannot see what a lock guards: `position`, `calls`, `occasion` and `valueWhenPaused` are used
// only while the store's is held, the rest only while the line's is, or never changes.
@usableFromInline final class Subscriber: @unchecked Sendable {
  let line: DeliveryLine
  let shared: SharedCore
  let node: NodeHandle
  /// Whether each state is delivered, with the value of its commit.
  let buffersCalls: Bool
  /// Whether the entity itself is observed, and not a part of it.
  private let isWhole: Bool

  // Guarded by the store's lock.
  /// The position in the node's list of subscribers.
  @exclusivity(unchecked) var position = -1
  /// The maker of the calls; `nil` once the subscription has ended.
  @exclusivity(unchecked) private var calls: CallMaker?
  /// The reason for the call in the turn that has begun.
  @exclusivity(unchecked) private var occasion: Occasion?

  // Guarded by the line's lock.
  @exclusivity(unchecked) private var state = NoticeCoalescing()
  @exclusivity(unchecked) private var box: NoticeBuffer<Call>
  /// The call that is about to be made.
  @exclusivity(unchecked) private var taken: Call?
  /// The state at the pause, if it had been delivered, to find out on resuming whether the value changed. Guarded by the
  /// store's lock.
  private var valueWhenPaused: SavedState?

  init(
    _ calls: CallMaker, to node: NodeHandle, isWhole: Bool, shared: SharedCore, buffering: Buffering
  ) {
    self.node = node
    self.isWhole = isWhole
    self.shared = shared
    line = calls.line
    self.calls = calls
    let limit = line.tellsEachState ? Int.max : buffering.limit
    box = NoticeBuffer(limit: limit ?? 0)
    buffersCalls = limit != nil
  }

  // MARK: Being told

  /// Enqueues a notice of a change. The store's lock is held, and the node exists or the source shows its absence.
  // Not inlined, to limit code size.
  @inline(never)
  func didChange(_ core: StoreCore) {
    guard calls != nil else { return }
    guard buffersCalls else {
      guard node.use(in: core, { core.isPresent($0, isWhole: isWhole, for: .change) }) else { return }
      return line.withLock { if state.change(isBuffered: false) { line.enqueue(self) } }
    }
    // What is seen during a pause is not kept.
    if line.withLock({ state.phase == .paused }) {
      if node.use(in: core, { core.isPresent($0, isWhole: isWhole, for: .change) }) {
        line.withLock { _ = state.change(isBuffered: true) }
      }
      return
    }
    var call = makeCall(core, .change)
    guard call != nil else { return }
    let dropped = line.withLock { () -> Call? in
      let isEnqueued = state.change(isBuffered: true)
      if isEnqueued { line.enqueue(self) }
      // During the first call values wait; during a pause only the newest counts.
      guard isEnqueued || state.phase == .starting, let call = call.take() else { return nil }
      return box.append(call)
    }
    withExtendedLifetime((call, dropped)) {}
  }

  private func makeCall(_ core: StoreCore, _ occasion: Occasion) -> Call? {
    calls.map { Borrowed($0) }?.use { $0.call(core, occasion) }
  }

  /// Whether the subscriber notifies a hub, and calls no observer.
  var isRelay: Bool { calls.map { $0.source == nil } ?? false }

  /// The identity of what holds the entity for the calls.
  var holder: ObjectIdentifier? { calls?.source.map { ObjectIdentifier($0) } }

  var isPaused: Bool { line.withLock { state.isPaused } }

  /// Whether a change can be delivered without a notice: for each state of the entity itself, on the committing thread.
  var canBeToldNow: Bool { isWhole && line.tellsEachState }

  /// Returns the maker of the call if the line is idle. The line is then busy until `endServing`.
  func beginTellingNow() -> CallMaker? {
    guard let calls, line.withLock({ state.phase == .active && box.count == 0 && line.beginServing() }) else {
      return nil
    }
    return calls
  }

  /// Begins the observer's turn to receive the newest value. Where each state is delivered there is nothing to begin: the
  /// calls wait in the buffer. Both locks are held.
  func beginTurn() {
    guard !buffersCalls, state.take() else { return }
    occasion = state.tellsLast ? .beginning : .change
    state.didTake()
  }

  /// Reads the newest committed value, if the turn has begun. The store's lock is held, and the line's is not: bringing a
  /// value up to date destroys old ones, and a subscription that is released with one of them takes the line's lock.
  func take(_ core: StoreCore) {
    guard let occasion = occasion.take() else { return }
    var call = makeCall(core, occasion)
    line.withLock { swap(&taken, &call) }
    withExtendedLifetime(call) {}
  }

  /// Returns the call to be made now, and whether it is still wanted: the one that was read, or the oldest waiting one. The
  /// line's lock is held; the call is to be made, or destroyed, without it.
  func next() -> (call: Call?, isWanted: Bool) {
    if buffersCalls { return (box.takeFirst(), state.take()) }
    let call = taken.take()
    return (call, call != nil && state.tell())
  }

  /// Removes the source, and returns it to be destroyed without a lock. The store's lock is held.
  func takeSource() -> CallMaker? { calls.take() }

  /// Discards waiting calls, because all entities were removed. The store's lock is held.
  ///
  /// - Returns: whether there may have been any.
  @discardableResult
  func dropPending() -> Bool {
    let (wasPending, dropped) = line.withLock { () -> (Bool, ([Call], Call?)) in
      let dropped = (box.takeAll(), taken.take())
      let wasPending = state.isPending || !dropped.0.isEmpty || dropped.1 != nil
      state.drop()
      return (wasPending, dropped)
    }
    withExtendedLifetime(dropped) {}
    return wasPending
  }

  // MARK: Its life

  /// Makes the first call, if there is one, on this thread if `isHere`, and allows later calls after it.
  func start(with first: Call?, isHere: Bool) {
    if let first {
      if isHere {
        first.make()
      } else {
        // Delivered in turn, like later ones.
        let dropped = line.withLock { () -> Call? in
          if buffersCalls { return box.append(first) }
          state.putOffFirst()
          return nil
        }
        withExtendedLifetime(dropped) {}
      }
    }
    line.withLock {
      guard state.start() || (buffersCalls && box.count > 0 && state.phase == .active) else { return }
      for _ in 0..<(buffersCalls ? box.count : 1) { line.enqueue(self) }
    }
    line.deliver()
  }

  func end() {
    let (isFirst, rest) = line.withLock { () -> (Bool, ([Call], Call?)) in
      guard state.end() else { return (false, ([], nil)) }
      // The values are destroyed without the lock.
      return (true, (box.takeAll(), taken.take()))
    }
    withExtendedLifetime(rest) {}
    if isFirst { shared.release(self) }
  }

  // MARK: Pausing

  // Values are saved and destroyed without the line's lock, as above.

  func pause(_ core: StoreCore) {
    let saved = line.withLock { knowsNewest } ? core.save(node.node(in: core)) : nil
    line.withLock {
      if knowsNewest { valueWhenPaused = saved }
      state.pause()
    }
  }

  /// Whether the observer has received the newest value.
  private var knowsNewest: Bool { state.phase == .active && !state.isPending && taken == nil && box.count == 0 }

  func resume(_ core: StoreCore) {
    guard let calls, line.withLock({ state.isPaused }) else { return }
    let isSame = valueWhenPaused.take().map { core.isSame(node.node(in: core), as: $0) } ?? false
    let call = buffersCalls && !isSame ? calls.call(core, .beginning) : nil
    let dropped = line.withLock { () -> [Call] in
      if isSame { state.forgetMissed() }
      guard state.resume(isBuffered: buffersCalls) else { return [] }
      line.enqueue(self)
      guard let call else { return [] }
      defer { _ = box.append(call) }
      return box.takeAll()
    }
    withExtendedLifetime(dropped) {}
  }
}
