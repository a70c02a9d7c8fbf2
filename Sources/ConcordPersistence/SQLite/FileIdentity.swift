#if Persistence
  import Foundation

  /// Which file is at a path.
  struct FileIdentity: Equatable {
    private let device: dev_t
    private let number: ino_t

    /// `nil` if there is none, or that cannot be known.
    init?(path: String) {
      var status = stat()
      guard stat(path, &status) == 0 else { return nil }
      (device, number) = (status.st_dev, status.st_ino)
    }
  }
#endif
