#if Persistence
  import Concord
  import ConcordModel
  import Foundation

  /// An advisory lock beside the file, held by the process that sends the file's outbox.
  ///
  /// The system releases it when the process ends in any way. It is a separate file: closing the database's file would
  /// drop the locks that SQLite has on it.
  enum SQLiteOutboxLock {
    /// - Returns: `nil` while another has it.
    static func take(beside url: URL, store: String) throws -> OutboxHold? {
      // A symbolic link leads to the same lock.
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
