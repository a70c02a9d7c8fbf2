import Dispatch
import Synchronization

/// Calls observers one after the other, in the order of commits: on a queue, on an actor, or on the threads that commit.
@usableFromInline final class DeliveryLine: Sendable {
  enum Place: Sendable {
    case queue(DispatchQueue)
    case actor(WeakActor)
    case committingThread
  }

  /// An actor, which the closures of its observers keep, and not the line: it may itself keep a subscription that has ended.
  struct WeakActor: Sendable {
    // Unsafe to the compiler, which cannot see that it is never set again; reading it is atomic.
    nonisolated(unsafe) private(set) weak var actor: (any Actor)?

    init(_ actor: any Actor) { self.actor = actor }
  }

  /// A subscriber that is to be told something, and who made it so.
  private enum Notice {
    case subscriber(Subscriber, thread: UInt)
    /// All before it have been told.
    case barrier(@Sendable () -> Void)

    func isOf(anotherThan thread: UInt) -> Bool {
      if case .subscriber(_, let committer) = self { committer != thread } else { false }
    }
  }

  private let place: Place
  /// Where it says that it has something to deliver; unless it is asked.
  private let waiting: WaitingLines?
  private let lock = Lock()
  private let work = Atomic<Bool>(false)
  // Unsafe to the compiler, which cannot see that it is used only while `lock` is held; nor that no access is within another,
  // since the methods of `Line` run no code of others.
  @exclusivity(unchecked) nonisolated(unsafe) private var line = Line<Notice>()

  init(_ place: Place, waitsIn waiting: WaitingLines? = nil) { (self.place, self.waiting) = (place, waiting) }

  /// Whether it is the line of that actor, and not of one that is gone and had the same address.
  func isOf(_ actor: any Actor) -> Bool { if case .actor(let place) = place { place.actor === actor } else { false } }

  /// Whether each state is told, with a value taken when it was committed; otherwise the newest, taken when it is told.
  @usableFromInline var tellsEachState: Bool { if case .committingThread = place { true } else { false } }
  @usableFromInline var hasWork: Bool { work.load(ordering: .relaxed) }

  /// Guards the state of the line's subscribers, too.
  @usableFromInline func withLock<R>(_ body: () -> R) -> R { lock.withLock(body) }

  /// Enqueues a notice. The lock is held.
  @usableFromInline func enqueue(_ subscriber: Subscriber) {
    if let waiting, line.isIdle { waiting.append(self) }
    line.enqueue(.subscriber(subscriber, thread: tellsEachState ? currentThread() : 0))
    // Whoever serves looks again before ceasing to.
    if !line.isServed { work.store(true, ordering: .relaxed) }
  }

  /// Begins a turn without a notice, if nothing waits and nobody is being told. The lock is held.
  func beginServing() -> Bool { line.begin() }

  /// Ends that turn: tells what has come meanwhile.
  func endServing() {
    lock.lock()
    serveCommits(of: currentThread())
  }

  /// Calls back when all that waits now has been told: at once, if nothing waits and nobody is being told.
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

  /// Sees to it that what waits is delivered. To be called without any lock.
  @usableFromInline func deliver() { deliver(all: false) }

  // Much code, which would stand in several places.
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
      // If it is gone, so are the closures that belong to it. Barriers may wait all the same.
      let actor = place.actor
      Task { [self] in await serveTurn(on: actor) }
    case .committingThread: serveCommits(of: all ? nil : currentThread())
    }
  }

  // MARK: Queues and actors

  /// One turn on the queue: all that waits is told the newest committed state, the same for all. Then others get their turn on
  /// the queue.
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
    // All of one store, since a line belongs to one; the values are read in one go.
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

  /// Tells the barriers that come first. Gives the store of the subscriber that comes next.
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

  /// Tells what this thread committed. What others committed meanwhile is told by a thread of its own, so that nobody has to
  /// stay for it. The lock is held, and given back.
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
