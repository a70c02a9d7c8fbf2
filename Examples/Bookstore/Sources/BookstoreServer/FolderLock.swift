import Foundation

/// Keeps a second server out of a folder. The system gives it back when the process ends, however that happens.
final class FolderLock: Sendable {
  private let descriptor: Int32

  /// - Throws: ``ServerError``
  init(_ folder: URL) throws {
    let path = folder.appendingPathComponent("server.lock").path
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      throw ServerError.folderNotWritable(folder.path, reason: String(cString: strerror(errno)))
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      throw ServerError.folderTaken(folder.path)
    }
  }

  deinit { close(descriptor) }
}
