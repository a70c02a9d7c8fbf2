import Dispatch
import Synchronization

/// Calls observers one after the other, in the order of commits, either on a queue or on whichever thread delivers.
@usableFromInline final class Lane: Sendable {
  private struct State {
    var line: ContiguousArray<AnySubscriber> = []
    /// Somebody delivers, or will.
    var isTaken = false
  }

  private let queue: DispatchQueue?
  @usableFromInline let lock = Lock()
  @exclusivity(unchecked) nonisolated(unsafe) private var state = State()  // guarded by `lock`
  private let work = Atomic<Bool>(false)
  @exclusivity(unchecked) nonisolated(unsafe) private var turn: ContiguousArray<AnySubscriber> = []  // belongs to whoever delivers

  init(_ queue: DispatchQueue?) { self.queue = queue }

  @usableFromInline var hasWork: Bool { work.load(ordering: .relaxed) }

  /// Guards the mailboxes of this lane's subscribers, too.
  @inlinable func withLock<R>(_ body: () -> R) -> R { lock.withLock(body) }

  /// Puts a subscriber with a letter in its box into the line. The lock is held.
  @usableFromInline func lineUp(_ subscriber: AnySubscriber) {
    state.line.append(subscriber)
    work.store(true, ordering: .relaxed)
  }

  /// Sees to it that what waits is delivered. Call without any lock.
  @usableFromInline func deliver() {
    guard let queue else { return deliverHere() }
    let isMine = lock.withLock {
      guard !state.isTaken, !state.line.isEmpty else { return false }
      state.isTaken = true
      return true
    }
    if isMine { deliverLot(on: queue) }
  }

  /// Delivers all that waits, and what comes meanwhile, unless somebody does already.
  private func deliverHere() {
    lock.lock()
    guard !state.isTaken else { return lock.unlock() }
    state.isTaken = true
    while !state.line.isEmpty {
      takeLine()
      lock.unlock()
      deliverTurn()
      lock.lock()
    }
    state.isTaken = false
    work.store(false, ordering: .relaxed)
    lock.unlock()
  }

  /// Delivers what waits when the queue gets to it. Lets others onto the queue between two lots, and comes back even if nothing
  /// waits yet: as long as the queue's thread has something to do, the next commit need not wake it.
  private func deliverLot(on queue: DispatchQueue) {
    queue.async { [self] in
      lock.lock()
      let isOver = state.line.isEmpty
      if isOver { state.isTaken = false } else { takeLine() }
      work.store(false, ordering: .relaxed)
      lock.unlock()
      if isOver { return }
      deliverTurn()
      deliverLot(on: queue)
    }
  }

  /// The lock is held.
  private func takeLine() {
    swap(&state.line, &turn)
    work.store(false, ordering: .relaxed)
  }

  private func deliverTurn() {
    for i in turn.indices { turn[i].receive() }
    turn.clear()
  }
}
