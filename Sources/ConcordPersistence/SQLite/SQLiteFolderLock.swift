#if Persistence
  import Dispatch
  import Foundation

  /// A lock under which the files of a folder are opened one at a time: of several connections that make one file at
  /// once, SQLite lets some fail, or see the file half made.
  final class SQLiteFolderLock {
    private let folder: URL
    private let timeout: TimeInterval
    private var descriptor: Int32 = -1

    /// Waits for the lock. After the timeout, or in a folder without locks, the caller continues without it.
    init(_ folder: URL, timeout: TimeInterval) {
      self.folder = folder
      self.timeout = timeout
      lock()
    }

    /// Waits for the lock again, unless it is held.
    func lock() {
      if descriptor >= 0 { return }
      descriptor = open(folder.path, O_RDONLY | O_CLOEXEC)
      let end = DispatchTime.now() + timeout
      while descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK || errno == EINTR,
        DispatchTime.now() < end
      { usleep(2_000) }
    }

    func unlock() {
      if descriptor >= 0 { close(descriptor) }
      descriptor = -1
    }

    deinit { unlock() }
  }
#endif
