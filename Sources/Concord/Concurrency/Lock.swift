#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
  public import Synchronization
#elseif canImport(Musl)
  import Musl
  public import Synchronization
#endif

/// A lock with a condition variable, the only kind of lock in the store. Not recursive.
///
/// It is not a `Synchronization.Mutex`, because a writer has to wait until another thread's transaction has ended, and because
/// the thread sanitizer does not understand that type.
// Unchecked, because the compiler cannot see that a lock guards its own fields: `primitive` is atomic, or the platform's,
// and `turn` and `waiting` are used only while it is held.
@usableFromInline final class Lock: @unchecked Sendable {
  @usableFromInline let primitive = PrimitiveLock()
  /// The condition that waiting threads sleep on until `wakeAll`.
  private lazy var turn = Condition()
  private var waiting = 0

  @usableFromInline init() {}

  @inlinable @inline(__always) func lock() { primitive.lock() }
  @inlinable @inline(__always) func unlock() { primitive.unlock() }
  @inlinable @inline(__always) func tryLock() -> Bool { primitive.tryLock() }

  @inlinable func withLock<R>(_ body: () throws -> R) rethrows -> R {
    lock()
    defer { unlock() }
    return try body()
  }

  /// Releases the lock, sleeps until `wakeAll` or until a duration has passed, and takes the lock again. May wake spuriously.
  func wait(atMost duration: Duration? = nil) {
    waiting += 1
    let turn = turn
    turn.lock()
    unlock()
    if let duration { turn.wait(atMost: duration) } else { turn.wait() }
    turn.unlock()
    lock()
    waiting -= 1
  }

  /// Wakes all threads that sleep in `wait`. The lock is held.
  @usableFromInline func wakeAll() {
    guard waiting > 0 else { return }
    turn.lock()
    turn.wakeAll()
    turn.unlock()
  }
}

#if canImport(Darwin)
  /// The platform's own lock, which avoids priority inversion.
  @usableFromInline struct PrimitiveLock: ~Copyable {
    private let word = UnsafeMutablePointer<os_unfair_lock>.allocate(capacity: 1)

    init() { word.initialize(to: os_unfair_lock()) }
    deinit { word.deallocate() }

    @usableFromInline func lock() { os_unfair_lock_lock(word) }
    @usableFromInline func unlock() { os_unfair_lock_unlock(word) }
    @usableFromInline func tryLock() -> Bool { os_unfair_lock_trylock(word) }
  }
#else
  /// A lock on a futex: two atomic operations when uncontended, half of the cost of a `pthread_mutex_t`.
  ///
  /// A thread that finds the lock held spins briefly and then sleeps. The values of the word are those of the second mutex in
  /// Drepper, "Futexes Are Tricky" (2011).
  @usableFromInline struct PrimitiveLock: ~Copyable {
    @inlinable static var free: UInt32 { 0 }
    @inlinable static var held: UInt32 { 1 }
    /// The lock is held, and a thread may be sleeping.
    @inlinable static var awaited: UInt32 { 2 }

    @usableFromInline let word = Atomic<UInt32>(free)
    private let isFree = Condition()

    init() {}

    @inlinable @inline(__always) borrowing func lock() {
      if !tryLock() { lockWhenFree() }
    }

    @inlinable @inline(__always) borrowing func tryLock() -> Bool {
      word.compareExchange(
        expected: Self.free, desired: Self.held, successOrdering: .acquiring, failureOrdering: .relaxed
      ).exchanged
    }

    @inlinable @inline(__always) borrowing func unlock() {
      if word.exchange(Self.free, ordering: .releasing) == Self.awaited { wakeOne() }
    }

    @inline(never) @usableFromInline borrowing func lockWhenFree() {
      // Critical sections are short: usually the lock is free before a thread could have gone to sleep.
      for _ in 0..<64 where word.load(ordering: .relaxed) == Self.free && tryLock() { return }
      isFree.lock()
      while word.exchange(Self.awaited, ordering: .acquiring) != Self.free { isFree.wait() }
      isFree.unlock()
    }

    @inline(never) @usableFromInline borrowing func wakeOne() {
      isFree.lock()
      isFree.wakeOne()
      isFree.unlock()
    }
  }
#endif

/// A condition variable of pthread, with the mutex that guards it.
private final class Condition {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  init() {
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    condition.initialize(to: pthread_cond_t())
    #if canImport(Darwin)
      pthread_cond_init(condition, nil)
    #else
      // Times are those of the monotonic clock.
      var attributes = pthread_condattr_t()
      pthread_condattr_init(&attributes)
      pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
      pthread_cond_init(condition, &attributes)
      pthread_condattr_destroy(&attributes)
    #endif
  }

  deinit {
    pthread_cond_destroy(condition)
    condition.deallocate()
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  func lock() { pthread_mutex_lock(mutex) }
  func unlock() { pthread_mutex_unlock(mutex) }
  /// Releases the mutex, sleeps, and takes the mutex again. May wake spuriously.
  func wait() { pthread_cond_wait(condition, mutex) }
  func wait(atMost duration: Duration) {
    let (seconds, attoseconds) = duration.components
    var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    #if canImport(Darwin)
      pthread_cond_timedwait_relative_np(condition, mutex, &time)
    #else
      var end = timespec()
      clock_gettime(CLOCK_MONOTONIC, &end)
      end.tv_sec += time.tv_sec
      end.tv_nsec += time.tv_nsec
      if end.tv_nsec >= 1_000_000_000 { (end.tv_sec, end.tv_nsec) = (end.tv_sec + 1, end.tv_nsec - 1_000_000_000) }
      time = end
      pthread_cond_timedwait(condition, mutex, &time)
    #endif
  }
  func wakeOne() { pthread_cond_signal(condition) }
  func wakeAll() { pthread_cond_broadcast(condition) }
}

/// Returns a number that identifies the calling thread.
@usableFromInline package func currentThread() -> UInt {
  #if canImport(Darwin)
    UInt(bitPattern: pthread_self())
  #else
    UInt(pthread_self())
  #endif
}
