import Dispatch
import Synchronization

/// A line of observers that are called one after the other, in the order of commits: on a queue, on an actor, or on the
/// committing threads.
@usableFromInline final class DeliveryLine: Sendable {
  enum Place: Sendable {
    case queue(DispatchQueue)
    case actor(WeakActor)
    case committingThread
  }

  /// A notice that waits in the line.
  private enum Notice {
    case subscriber(Subscriber, thread: UInt)
    /// A closure to be called when all notices before it have been delivered.
    case barrier(@Sendable () -> Void)

    func isOf(anotherThan thread: UInt) -> Bool {
      if case .subscriber(_, let committer) = self { committer != thread } else { false }
    }
  }

  private let place: Place
  /// The list in which the line registers that it has work; `nil` for a line that is asked.
  private let waiting: WaitingLines?
  private let lock = Lock()
  private let work = Atomic<Bool>(false)
  // Unsafe to the compiler, which cannot see that it is used only while `lock` is held; nor that no access is within another,
  // since the methods of `Line` run no foreign code.
  @exclusivity(unchecked) nonisolated(unsafe) private var line = Line<Notice>()

  init(_ place: Place, waitsIn waiting: WaitingLines? = nil) {
    (self.place, self.waiting) = (place, waiting)
    tellsEachState = if case .committingThread = place { true } else { false }
  }

  /// Whether the line belongs to an actor, and not to a released one that had the same address.
  func isOf(_ actor: any Actor) -> Bool { if case .actor(let place) = place { place.actor === actor } else { false } }

  /// The place where observers are called, in words.
  var kind: String {
    switch place {
    case .queue(let queue): queue.isSame(as: .main) ? "the main queue" : "the queue \(queue.label)"
    case .actor: "an actor"
    case .committingThread: "the committing thread"
    }
  }

  /// Whether each state is delivered, with the value of its commit. Otherwise the newest is, read when it is delivered.
  @usableFromInline let tellsEachState: Bool
  @usableFromInline var hasWork: Bool { work.load(ordering: .relaxed) }

  /// Runs a closure with the line's lock, which also guards the state of the line's subscribers.
  @usableFromInline func withLock<R>(_ body: () -> R) -> R { lock.withLock(body) }

  /// Enqueues a notice. The lock is held.
  @usableFromInline func enqueue(_ subscriber: Subscriber) {
    if let waiting, line.isIdle { waiting.append(self) }
    line.enqueue(.subscriber(subscriber, thread: tellsEachState ? currentThread() : 0))
    // A thread that serves the line looks again before it ends.
    if !line.isServed { work.store(true, ordering: .relaxed) }
  }

  /// Begins a turn without a notice, if nothing waits and no observer is being called. The lock is held.
  func beginServing() -> Bool { line.begin() }

  /// Ends that turn: delivers notices that were enqueued meanwhile.
  func endServing() {
    lock.lock()
    serveCommits(of: currentThread())
  }

  /// Calls a closure when all notices waiting now have been delivered; at once, if none waits and no observer is being called.
  func enqueueBarrier(_ body: @escaping @Sendable () -> Void) {
    let isIdle = lock.withLock {
      if line.isIdle { return true }
      line.enqueue(.barrier(body))
      work.store(true, ordering: .relaxed)
      return false
    }
    if isIdle { return body() }
    deliver(all: true)
  }

  /// Lets the waiting notices be delivered. To be called without any lock.
  @usableFromInline func deliver() { deliver(all: false) }

  // Not inlined, to limit code size.
  @inline(never)
  private func deliver(all: Bool) {
    lock.lock()
    guard line.serve() else { return lock.unlock() }
    switch place {
    case .queue(let queue):
      lock.unlock()
      queue.async { [self] in serveTurn() }
    case .actor(let place):
      lock.unlock()
      // If the actor is released, so are the closures that belong to it, but barriers may still wait.
      let actor = place.actor
      Task { [self] in await serveTurn(on: actor) }
    case .committingThread: serveCommits(of: all ? nil : currentThread())
    }
  }

  // MARK: Queues and actors

  /// Serves one turn on the queue: delivers the newest committed state to all waiting observers, the same to all. Then other
  /// work gets its turn on the queue.
  private func serveTurn() {
    tellNewest()
    if case .queue(let queue) = place, lock.withLock({ line.goOn() }) { queue.async { [self] in serveTurn() } }
  }

  private func serveTurn(on actor: isolated (any Actor)?) async {
    repeat {
      tellNewest()
      await Task.yield()
    } while lock.withLock { line.goOn() }
  }

  private func tellNewest() {
    let count = lock.withLock {
      work.store(false, ordering: .relaxed)
      return line.count
    }
    guard let shared = passBarriers() else { return }
    var turn: ContiguousArray<Notice> = []
    turn.reserveCapacity(count)
    // All subscribers belong to one store, as the line does, so that their values are read under one lock.
    shared.readCommitted { core in
      lock.withLock {
        while let notice = line.takeFirst() {
          if case .subscriber(let subscriber, _) = notice { subscriber.beginTurn() }
          turn.append(notice)
        }
      }
      for case .subscriber(let subscriber, _) in turn { subscriber.take(core) }
    }
    for notice in turn { tell(notice) }
  }

  /// Calls the barriers at the front. Returns the store of the next subscriber.
  private func passBarriers() -> SharedCore? {
    while true {
      lock.lock()
      switch line.next {
      case .subscriber(let subscriber, _)?:
        lock.unlock()
        return subscriber.shared
      case .barrier(let body)?:
        _ = line.takeFirst()
        lock.unlock()
        body()
      case nil:
        lock.unlock()
        return nil
      }
    }
  }

  private func tell(_ notice: Notice) {
    switch notice {
    case .subscriber(let subscriber, _):
      let (call, isWanted) = lock.withLock { subscriber.next() }
      if isWanted { call?.make() }
    case .barrier(let body): body()
    }
  }

  // MARK: Committing threads

  /// Delivers the commits of this thread. Those of other threads are delivered by a separate thread, so that this one need
  /// not wait. The lock is held, and released.
  private func serveCommits(of thread: UInt?) {
    while !line.isEmpty {
      if let thread, line.isNext({ $0.isOf(anotherThan: thread) }) {
        lock.unlock()
        DispatchQueue.global().async { [self] in
          lock.lock()
          serveCommits(of: nil)
        }
        return
      }
      switch line.takeFirst() {
      case .subscriber(let subscriber, _)?:
        let (call, isWanted) = subscriber.next()
        lock.unlock()
        if isWanted { call?.make() }
      case .barrier(let body)?:
        lock.unlock()
        body()
      case nil: lock.unlock()
      }
      lock.lock()
    }
    work.store(false, ordering: .relaxed)
    _ = line.goOn()
    lock.unlock()
  }
}
