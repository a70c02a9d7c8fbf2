/// Somebody who is told of new values, whatever their type.
// Unchecked, because the compiler cannot see what a lock guards: `position`, `calls`, `occasion` and `valueWhenPaused` are used
// only while the store's is held, the rest only while the line's is, or never changes.
@usableFromInline final class Subscriber: @unchecked Sendable {
  let line: DeliveryLine
  let shared: SharedCore
  let node: NodeHandle
  /// Each state is told, with the value of its commit.
  let buffersCalls: Bool
  /// What is observed is the entity itself.
  private let isWhole: Bool

  // Guarded by the store's lock.
  /// Where the node has it.
  @exclusivity(unchecked) var position = -1
  /// `nil` once the subscription has ended.
  @exclusivity(unchecked) private var calls: CallMaker?
  /// Why it is told something in the turn that has begun.
  @exclusivity(unchecked) private var occasion: Occasion?

  // Guarded by the line's lock.
  @exclusivity(unchecked) private var state = NoticeCoalescing()
  @exclusivity(unchecked) private var box: NoticeBuffer<Call>
  /// Taken, and about to be made.
  @exclusivity(unchecked) private var taken: Call?
  /// What there was when it paused, if that had been told: to know whether there is something new when it resumes. Guarded by
  /// the store's lock.
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

  /// The value changed: a notice is enqueued. The store's lock is held, and the node exists or the source shows its absence.
  // Much code, which would stand in several places.
  @inline(never)
  func didChange(_ core: StoreCore) {
    guard calls != nil else { return }
    guard buffersCalls else {
      guard node.use(in: core, { core.isPresent($0, isWhole: isWhole, for: .change) }) else { return }
      return line.withLock { if state.change(isBuffered: false) { line.enqueue(self) } }
    }
    var call = makeCall(core, .change)
    guard call != nil else { return }
    let dropped = line.withLock { () -> Call? in
      let isEnqueued = state.change(isBuffered: true)
      if isEnqueued { line.enqueue(self) }
      // While the first call lasts values wait; while paused only the newest will count.
      guard isEnqueued || state.phase == .starting, let call = call.take() else { return nil }
      return box.append(call)
    }
    withExtendedLifetime((call, dropped)) {}
  }

  private func makeCall(_ core: StoreCore, _ occasion: Occasion) -> Call? {
    calls.map { Borrowed($0) }?.use { $0.call(core, occasion) }
  }

  /// Whether it may be told without being enqueued: each state, on the committing thread, of the entity itself.
  var canBeToldNow: Bool { isWhole && line.tellsEachState }

  /// What tells it now, if nobody else of its line is being told or waits: until `endServing` the line is taken.
  func beginTellingNow() -> CallMaker? {
    guard let calls, line.withLock({ state.phase == .active && box.count == 0 && line.beginServing() }) else {
      return nil
    }
    return calls
  }

  /// The observer's turn to be told the newest has come. Where each state is told there is nothing to begin: the calls wait in
  /// the box. Both locks are held.
  func beginTurn() {
    guard !buffersCalls, state.take() else { return }
    occasion = state.tellsLast ? .beginning : .change
    state.didTake()
  }

  /// Takes the newest committed value, if the turn has come. The store's lock is held, and the line's is not: bringing a value up
  /// to date destroys old ones, and a subscription that goes with one of them takes the line's lock.
  func take(_ core: StoreCore) {
    guard let occasion = occasion.take() else { return }
    var call = makeCall(core, occasion)
    line.withLock { swap(&taken, &call) }
    withExtendedLifetime(call) {}
  }

  /// The call that is to be made now, if it still is: what was taken, or the oldest that waits. The line's lock is held; the
  /// call is to be made, or dropped, without it.
  func next() -> (call: Call?, isWanted: Bool) {
    if buffersCalls { return (box.takeFirst(), state.take()) }
    let call = taken.take()
    return (call, call != nil && state.tell())
  }

  /// Gives up what holds the entity, to be destroyed without a lock. The store's lock is held.
  func takeSource() -> CallMaker? { calls.take() }

  /// Forgets what waits, because the entity was removed with all others. The store's lock is held.
  func dropPending() {
    let dropped = line.withLock { () -> ([Call], Call?) in
      state.drop()
      return (box.takeAll(), taken.take())
    }
    withExtendedLifetime(dropped) {}
  }

  // MARK: Its life

  /// Makes the first call, if there is one, and lets later ones come after it. `isHere` calls back on this thread.
  func start(with first: Call?, isHere: Bool) {
    if let first {
      if isHere {
        first.make()
      } else {
        // Told in turn, like the others.
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

  /// Nothing waits to be told.
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
