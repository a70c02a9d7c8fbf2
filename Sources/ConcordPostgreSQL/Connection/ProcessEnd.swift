#if PostgreSQL
  import Foundation

  // Relies on: functions that are registered with `atexit` run in the reverse order, so that one which is registered behind a connection runs
  // before those of the libraries that libpq has loaded for it.

  /// Keeps threads from connecting while the process ends: the libraries that encrypt are cleaned up then, and would crash.
  enum ProcessEnd {
    // Unsafe, because a pointer is not sendable: this one never changes, and what it points to is itself a lock.
    nonisolated(unsafe) private static let lock: UnsafeMutablePointer<pthread_rwlock_t> = {
      let lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)
      pthread_rwlock_init(lock, nil)
      return lock
    }()

    private static let registration: Void = {
      atexit {
        // Bounded, since a server may not answer.
        for _ in 0..<1000 {
          if pthread_rwlock_trywrlock(ProcessEnd.lock) == 0 { return }
          usleep(1000)
        }
      }
    }()

    /// Runs a closure, unless the process ends: then it does not return.
    static func notDuring<R>(_ body: () throws -> R) rethrows -> R {
      pthread_rwlock_rdlock(lock)
      defer { pthread_rwlock_unlock(lock) }
      return try body()
    }

    /// Notes that libpq has loaded its libraries.
    static func librariesAreLoaded() { _ = registration }
  }
#endif
