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
  nonisolated(unsafe) private var state = State()  // guarded by `lock`
  private let work = Atomic<Bool>(false)
  nonisolated(unsafe) private var turn: ContiguousArray<AnySubscriber> = []  // belongs to whoever delivers

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
    let isMine = lock.withLock {
      guard !state.isTaken, !state.line.isEmpty else { return false }
      state.isTaken = true
      return true
    }
    guard isMine else { return }
    if let queue {
      queue.async { [self] in deliverLine(andStay: false) }
    } else {
      deliverLine(andStay: true)
    }
  }

  private func deliverLine(andStay stays: Bool) {
    while true {
      let isOver = lock.withLock {
        swap(&state.line, &turn)
        if turn.isEmpty { state.isTaken = false }
        work.store(false, ordering: .relaxed)
        return turn.isEmpty
      }
      if isOver { return }
      for i in turn.indices { turn[i].receive() }
      turn.removeAll(keepingCapacity: turn.count < 1024)
      if !stays, let queue {
        // Lets others onto the queue between two lots.
        let hasMore = lock.withLock {
          state.isTaken = !state.line.isEmpty
          return state.isTaken
        }
        if hasMore { queue.async { [self] in deliverLine(andStay: false) } }
        return
      }
    }
  }
}
