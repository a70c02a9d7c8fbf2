#if Persistence
  import Concord
  import ConcordModel
  import Foundation

  /// An advisory lock beside the file, which says who sends what is in its outbox.
  ///
  /// The system gives it back when the process ends, however that does. It is a file of its own: closing the database's file
  /// would drop the locks that SQLite has on it.
  enum SQLiteOutboxLock {
    /// - Returns: `nil` while another has it.
    static func take(beside url: URL, store: String) throws -> OutboxHold? {
      // Whoever comes by a link finds the same lock.
      let path = url.resolvingSymlinksInPath().path + "-outbox"
      let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else {
        throw StoreError.storeFailed(store: store, reason: "the lock of its outbox cannot be made (errno \(errno))")
      }
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return OutboxHold { close(descriptor) } }
      let code = errno
      close(descriptor)
      if code == EWOULDBLOCK { return nil }
      throw StoreError.storeFailed(store: store, reason: "the lock of its outbox cannot be had (errno \(code))")
    }
  }
#endif
