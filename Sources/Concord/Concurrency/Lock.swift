#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The one kind of lock in the store: a mutex, with a condition to wait for.
///
/// It is a `pthread_mutex_t`, not a `Synchronization.Mutex`, because the thread sanitizer understands it and because a
/// writer has to sleep until another thread's transaction has ended. Not recursive.
// Unchecked: pthread's own types do the synchronising; the pointers never change
@usableFromInline final class Lock: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>

  @usableFromInline init() {
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    condition = .allocate(capacity: 1)
    condition.initialize(to: pthread_cond_t())
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    condition.deallocate()
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  @usableFromInline func lock() { pthread_mutex_lock(mutex) }
  @usableFromInline func unlock() { pthread_mutex_unlock(mutex) }
  @usableFromInline func tryLock() -> Bool { pthread_mutex_trylock(mutex) == 0 }

  @inlinable func withLock<R>(_ body: () throws -> R) rethrows -> R {
    lock()
    defer { unlock() }
    return try body()
  }

  /// Sleeps until `wakeAll`, without the lock; holds it again on return. May wake for no reason.
  @usableFromInline func wait() { pthread_cond_wait(condition, mutex) }
  @usableFromInline func wakeAll() { pthread_cond_broadcast(condition) }
}

/// The calling thread, as a number to compare with.
@usableFromInline func currentThread() -> UInt {
  #if canImport(Darwin)
    UInt(bitPattern: pthread_self())
  #else
    UInt(pthread_self())
  #endif
}
