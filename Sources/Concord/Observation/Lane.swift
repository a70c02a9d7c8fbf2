import Dispatch
import Synchronization

/// Calls observers one after the other, in the order of commits, either on a queue or on whichever thread delivers.
@usableFromInline final class Lane: Sendable {
  private let queue: DispatchQueue?
  @usableFromInline let lock = Lock()
  private let work = Atomic<Bool>(false)

  // Unsafe to the compiler, which cannot see that all three are used only while `lock` is held.
  /// Subscribers with a letter in their box, from `first` on.
  @exclusivity(unchecked) nonisolated(unsafe) private var line: ContiguousArray<AnySubscriber?> = []
  @exclusivity(unchecked) nonisolated(unsafe) private var first = 0
  /// Somebody delivers, or will.
  @exclusivity(unchecked) nonisolated(unsafe) private var isTaken = false

  init(_ queue: DispatchQueue?) { self.queue = queue }

  @usableFromInline var hasWork: Bool { work.load(ordering: .relaxed) }

  /// Guards the mailboxes of this lane's subscribers, too.
  @inlinable func withLock<R>(_ body: () -> R) -> R { lock.withLock(body) }

  /// Puts a subscriber with a letter in its box into the line. The lock is held.
  @usableFromInline func lineUp(_ subscriber: AnySubscriber) {
    line.append(subscriber)
    work.store(true, ordering: .relaxed)
  }

  /// Sees to it that what waits is delivered. Call without any lock.
  @usableFromInline func deliver() {
    lock.lock()
    guard !isTaken, !line.isEmpty else { return lock.unlock() }
    isTaken = true
    if let queue {
      lock.unlock()
      deliverLot(on: queue)
    } else {
      while deliverNext() {}
      isTaken = false
      lock.unlock()
    }
  }

  /// Delivers what waits when the queue gets to it. Lets others onto the queue between two lots, and comes back even if nothing
  /// waits yet: as long as the queue's thread has something to do, the next commit need not wake it.
  private func deliverLot(on queue: DispatchQueue) {
    queue.async { [self] in
      lock.lock()
      var lot = line.count - first
      isTaken = lot > 0
      let isOver = !isTaken
      while lot > 0, deliverNext() { lot -= 1 }
      lock.unlock()
      if !isOver { deliverLot(on: queue) }
    }
  }

  /// Calls the next in the line, if there is one. The lock is held, but not during the call.
  private func deliverNext() -> Bool {
    guard let subscriber = removeFirst() else { return false }
    subscriber.take()
    lock.unlock()
    call(subscriber)
    lock.lock()
    return true
  }

  /// Also destroys the subscriber, if it has ended.
  private func call(_ subscriber: consuming AnySubscriber) { subscriber.call() }

  private func removeFirst() -> AnySubscriber? {
    guard first < line.count else { return nil }
    let subscriber = line[first].take()
    first += 1
    if first == line.count {
      line.clear()
      first = 0
      work.store(false, ordering: .relaxed)
    } else if first >= 1024, first * 2 > line.count {
      line.removeFirst(first)
      first = 0
    }
    return subscriber
  }
}
