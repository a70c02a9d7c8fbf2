import Dispatch
import Synchronization

/// A store's state with its lock, and the lines in which observers are called.
///
/// The lock is held for short, bounded work only. User code (closures of `update`, `ifPresent`, transactions, observers,
/// loggers) runs without it; while a closure runs inside a transaction, `Turns` keeps other threads from writing, and they
/// read the last committed state.
// Unchecked, because the compiler cannot see that `core` is used only while `lock` is held, and `releases` only while
// `releaseLock` is.
@usableFromInline final class SharedCore: @unchecked Sendable {
  private let lock = Lock()
  @usableFromInline let core: StoreCore
  @usableFromInline let lines: DeliveryLines

  // Releases that had to be postponed, because the lock was taken.
  private let releaseLock = Lock()
  @exclusivity(unchecked) private var releases: [Release] = []
  /// The number of postponed releases, which is read without `releaseLock`.
  private let releaseCount = Atomic<Int>(0)

  private static let lastToken = Atomic<UInt64>(0)

  /// Creates the state of an empty store.
  ///
  /// - Parameter queue: the queue of observers that belong to no actor; `nil` if the committing thread calls them.
  init(queue: DispatchQueue?, clock: StampClock, logger: (any EntityStoreLogger)?) {
    core = StoreCore(clock: clock, logger: logger)
    lines = DeliveryLines(queue: queue)
  }

  // MARK: Writing

  /// Runs one writing operation as a transaction, or as a part of the one that is open on this thread or for this token.
  @inlinable func write<R>(_ token: UInt64, _ operation: (StoreCore) -> R) -> R {
    beginWrite(token)
    let result = operation(core)
    endWrite()
    return result
  }

  @usableFromInline func beginWrite(_ token: UInt64) {
    enter()
    if core.turns.isBusy { beginBusyWrite(token) }
  }

  /// Runs one writing operation on a known entity. Layers that do not depend on the entity are not replayed.
  ///
  /// - Parameter isOnly: whether the operation writes only to this entity and to entities inside it.
  @inlinable func write<T: Identifiable & Sendable, R>(
    _ token: UInt64, to type: T.Type, _ id: @autoclosure () -> T.ID, only isOnly: Bool = true,
    _ operation: (StoreCore) -> R
  ) -> R {
    if !beginFreeWrite() { beginBusyWrite(token, to: type, id(), only: isOnly) }
    let result = operation(core)
    endWrite()
    return result
  }

  /// Runs one operation that stores a value. If there are layers, and the base has the value already, `unchanged` is called
  /// instead, and the layers stay shown.
  ///
  /// - Parameter isOnly: whether the operation does nothing but to store the value.
  @inlinable func write<T: Identifiable & Sendable, R>(
    _ token: UInt64, storing value: T, _ stamp: Stamp?, only isOnly: Bool, _ operation: (StoreCore) -> R,
    unchanged: (EntityNode<T>) -> R
  ) -> R {
    let node = beginFreeWrite() ? nil : beginBusyWrite(token, storing: value, stamp, only: isOnly)
    let result = node.map(unchanged) ?? operation(core)
    endWrite()
    return result
  }

  /// Takes the lock. Returns whether no transaction is open, and there are no layers.
  @usableFromInline func beginFreeWrite() -> Bool {
    enter()
    return !core.turns.isBusy
  }

  // Not specialised for the type: the entity is looked up only if there are layers.
  @usableFromInline @inline(never) func beginBusyWrite<T: Identifiable & Sendable>(
    _ token: UInt64, to type: T.Type, _ id: T.ID, only isOnly: Bool
  ) {
    if core.turns.isOpen { waitForTurn(token) }
    core.beginLayered()
    guard core.layers.isActive else { return }
    let table = core.graph.table(type)
    core.beginLayeredWrite(to: isOnly ? WriteTarget(table.find(id), writesOthers: table.isAggregate) : nil)
  }

  /// Begins to store a value. Returns the node if that would change nothing in the base.
  @usableFromInline @inline(never) func beginBusyWrite<T: Identifiable & Sendable>(
    _ token: UInt64, storing value: T, _ stamp: Stamp?, only isOnly: Bool
  ) -> EntityNode<T>? {
    if core.turns.isOpen { waitForTurn(token) }
    core.beginLayered()
    guard core.layers.isActive else { return nil }
    let table = core.graph.table(T.self)
    let node = table.find(value.id)
    // An entity that layers hide is shown from now on, since it is observed.
    if isOnly, let node, !core.layers.isHidden(node), core.isInBase(value, node, stamp) { return node }
    core.beginLayeredWrite(to: isOnly ? WriteTarget(node, writesOthers: table.isAggregate) : nil)
    return nil
  }

  /// Begins a write while a transaction is open, or there are layers, which are taken off.
  private func beginBusyWrite(_ token: UInt64) {
    if core.turns.isOpen { waitForTurn(token) }
    core.beginLayered()
    core.exposeBase()
  }

  /// Waits until it is the caller's turn to write, without taking layers off.
  func beginTurn(_ token: UInt64) {
    enter()
    if core.turns.isOpen { waitForTurn(token) }
  }

  /// Runs an operation that has to wait for its turn, and writes to no entity.
  func inspect<R>(_ token: UInt64, _ operation: (StoreCore) -> R) -> R {
    beginTurn(token)
    let result = operation(core)
    endWrite()
    return result
  }

  /// Waits until the innermost frame is the caller's: also before that ends, since other threads may be in transactions inside it.
  private func waitForTurn(_ token: UInt64) {
    let thread = currentThread()
    // Fast path: usually it is the transaction's own thread, which need not read the time.
    if core.turns.mayWrite(thread, token: token) { return }
    // A thread that an open closure waits for cannot be distinguished from one whose turn will come. So a long wait is
    // reported.
    var stall: Stall? = Stall(after: core.turns.patience)
    while !core.turns.mayWrite(thread, token: token) {
      lock.wait(atMost: stall?.rest)
      guard let waited = stall?.duration, !core.turns.mayWrite(thread, token: token) else { continue }
      stall = nil
      let report = core.log.stall(waited)
      lock.unlock()
      report()
      lock.lock()
    }
  }

  /// Commits if the operation was the outermost, releases the lock, and delivers notices.
  @usableFromInline func endWrite() {
    guard !core.turns.isBusy else { return endBusyWrite() }
    performReleases()
    // Fast path: usually there is nothing to release, to notify of or to log.
    guard !core.backlog.isEmpty else { return unlock() }
    commit()
  }

  private func endBusyWrite() {
    if core.turns.isOpen { unlock() } else { endLayeredWrite() }
  }

  /// Commits, releases the lock, and delivers notices.
  func commit() {
    core.commit()
    guard let subscriber = core.toldNow.take() else {
      unlockAndLog()
      performReleasesIfFree()
      return lines.deliver()
    }
    // Fast path: a single observer of one entity is the most frequent case, and needs no notice.
    guard core.log.isEmpty, core.ended.isEmpty, let maker = subscriber.use({ $0.beginTellingNow() }) else {
      subscriber.use { $0.didChange(core) }
      unlockAndLog()
      performReleasesIfFree()
      return lines.deliver()
    }
    maker.tellNow(core, self)
    performReleasesIfFree()
    lines.deliver()
  }

  /// Releases the lock, and does nothing else: no code of the user's may run before the observer is called.
  @usableFromInline func unlockToTell() { lock.unlock() }

  /// Runs the user's code in the middle of an operation, without the lock. Its calls to the store are parts of the transaction.
  @inlinable func unlocked<R>(_ body: () -> R) -> R {
    beginUnlocked()
    defer { endUnlocked() }
    return body()
  }

  @usableFromInline func beginUnlocked() {
    if !core.turns.isOpen { _ = core.graph.journal.begin() }
    core.turns.open(currentThread(), token: 0)
    lock.unlock()
  }

  @usableFromInline func endUnlocked() {
    lock.lock()
    // The closure may have made a layer.
    if core.turns.hasLayers, core.layers.wereEntered { core.exposeBase() }
    closeTurn()
    // Observers that were made or called meanwhile are compared with the committed states, which are then needed.
    if !core.turns.isOpen, !core.needsComparison { core.graph.journal.pause() }
  }

  private func closeTurn() {
    core.turns.close()
    lock.wakeAll()
  }

  private func openTurn() -> UInt64 {
    let token = Self.lastToken.add(1, ordering: .relaxed).newValue
    core.turns.open(currentThread(), token: token)
    return token
  }

  /// Runs the user's code without the lock, with a token for the store that the code receives.
  func withTurn(_ body: (UInt64) -> Void) {
    let token = openTurn()
    lock.unlock()
    body(token)
    lock.lock()
    waitForTurn(token)
    closeTurn()
  }

  /// Runs a transaction's body; if it throws, undoes all of its changes.
  func transaction<R>(
    _ token: UInt64, context: TransactionContext?, origin: ObjectIdentifier?, at site: CallSite? = nil,
    _ body: (UInt64) throws -> R
  ) rethrows -> R {
    beginTurn(token)
    let isNested = core.turns.isOpen
    // The base is exposed by the first operation on it. There may be none.
    if !isNested {
      core.beginLayered()
      // After that, which may commit what reading left.
      core.feed.begin(context, origin, site)
    } else if core.layers.running != nil {
      core.layers.giveUpTracing()
    }
    core.prepare()
    let savepoint = core.savepoint
    let outer = core.graph.journal.begin()
    let shown = isNested ? core.layers.beginPart() : nil
    let ownToken = openTurn()
    lock.unlock()
    func end() {
      if let shown { core.layers.endPart(shown) }
      core.graph.journal.end(outer)
      closeTurn()
      endWrite()
    }
    do {
      let result = try body(ownToken)
      lock.lock()
      waitForTurn(ownToken)
      end()
      return result
    } catch {
      lock.lock()
      waitForTurn(ownToken)
      core.rollBack(to: savepoint)
      end()
      throw error
    }
  }

  // MARK: Reading

  /// Runs a reading operation; `isCommitted` tells that it must not see the open transaction.
  @inlinable func read<R>(_ token: UInt64, _ operation: (StoreCore, _ isCommitted: Bool) -> R) -> R {
    let isCommitted = beginRead(token)
    let result = operation(core, isCommitted)
    endRead()
    return result
  }

  /// Releases the lock. A read may have found work that ends like a write.
  @usableFromInline func endRead() { if core.hasUnfinished { endWrite() } else { unlock() } }

  @usableFromInline func beginRead(_ token: UInt64) -> Bool {
    enter()
    guard core.turns.isOpen else { return false }
    let isCommitted = !core.turns.sees(currentThread(), token: token)
    if !isCommitted {
      core.exposeBase()
      core.prepare()
    }
    return isCommitted
  }

  /// Runs an operation that reads the last committed state, on any thread.
  func readCommitted<R>(_ operation: (StoreCore) -> R) -> R {
    enter()
    let result = operation(core)
    endRead()
    return result
  }

  // MARK: Releasing

  private enum Release {
    case holder(NodeHandle)
    case subscriber(Subscriber)
  }

  /// Postpones the release of a node, whose last observer may be gone. Never waits. The caller drops the node, and then
  /// performs the release.
  @usableFromInline func putOffRelease(of node: NodeHandle) { putOff(.holder(node)) }

  /// Releases a subscription that has ended. Never waits.
  func release(_ subscriber: Subscriber) {
    putOff(.subscriber(subscriber))
    performReleasesIfFree()
  }

  private func putOff(_ release: Release) {
    releaseLock.withLock {
      releases.append(release)
      releaseCount.store(releases.count, ordering: .sequentiallyConsistent)
    }
  }

  /// Takes the lock, after postponed releases have been performed, also those that other threads postponed while the lock was
  /// taken.
  private func enter() {
    lock.lock()
    if releaseCount.load(ordering: .relaxed) > 0 { enterAfterReleases() }
  }

  // Not in a loop: releases that are postponed from now on did not happen before this call.
  @inline(never) private func enterAfterReleases() {
    // An open transaction performs them when it ends.
    if core.turns.isOpen { return }
    releaseAndUnlock()
    lines.deliver()
    lock.lock()
  }

  /// Releases the lock, and performs releases that other threads postponed meanwhile.
  @usableFromInline func unlock() {
    lock.unlock()
    performReleasesIfFree()
  }

  /// Performs postponed releases if the lock is free. Fast path: usually there are none.
  @inline(__always) private func performReleasesIfFree() {
    if releaseCount.load(ordering: .sequentiallyConsistent) > 0 { performReleasesUnlessLocked() }
  }

  /// Performs postponed releases unless the lock is taken. Loops: a released closure may own observers and subscriptions,
  /// which are then released in turn.
  @usableFromInline func performReleasesUnlessLocked() {
    var hasReleased = false
    while releaseCount.load(ordering: .sequentiallyConsistent) > 0, lock.tryLock() {
      // An open transaction performs them when it ends.
      if core.turns.isOpen {
        lock.unlock()
        break
      }
      releaseAndUnlock()
      hasReleased = true
    }
    // If nothing was released, this thread may be the one that holds the lock.
    if hasReleased { lines.deliver() }
  }

  /// Performs postponed releases, each batch as a transaction of its own, and releases the lock. A released entity may own
  /// observers of other entities, which are released with it: so it loops until there are none.
  private func releaseAndUnlock() {
    repeat {
      performReleases()
      core.commit()
      if let subscriber = core.toldNow.take() { subscriber.use { $0.didChange(core) } }
    } while releaseCount.load(ordering: .sequentiallyConsistent) > 0
    unlockAndLog()
  }

  /// Performs postponed releases.
  func performReleases() {
    while releaseCount.load(ordering: .sequentiallyConsistent) > 0 {
      let batch = releaseLock.withLock {
        defer { releases = [] }
        releaseCount.store(0, ordering: .sequentiallyConsistent)
        return releases
      }
      for release in batch { perform(release) }
    }
  }

  private func perform(_ release: Release) {
    switch release {
    case .holder(let handle):
      let node = handle.node(in: core)
      node.holders.remove()
      if node.holders.count == 0 { core.graph.unexamined.insert(node) }
    case .subscriber(let subscriber):
      subscriber.node.node(in: core).removeSubscriber(subscriber)
      core.feed.update()
      if let source = subscriber.takeSource() {
        source.letGo()
        core.ended.append(source)
        core.backlog.add()
      }
    }
  }

  /// Releases the lock, and then runs code that must not run with it: loggers, and the destruction of observers' closures.
  private func unlockAndLog() {
    guard !core.log.isEmpty || !core.ended.isEmpty else { return lock.unlock() }
    let thread = currentThread()
    let log = core.log.takeAll()
    var ended = core.ended.begin(on: thread)
    lock.unlock()
    log()
    while !ended.isEmpty {
      ended = []
      ended = lock.withLock { core.ended.goOn(on: thread) }
    }
  }
}
