#if Persistence
  import Dispatch
  import Foundation

  /// Lets one after the other open the files of a folder: where several make one file at once, SQLite waits for nobody, or finds it by
  /// half.
  final class SQLiteFolderLock {
    private let folder: URL
    private let timeout: TimeInterval
    private var descriptor: Int32 = -1

    /// Waits for others. Who waits too long, or in a folder that has no locks, goes on without it.
    init(_ folder: URL, timeout: TimeInterval) {
      self.folder = folder
      self.timeout = timeout
      lock()
    }

    /// Waits for others again, unless it is locked already.
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
