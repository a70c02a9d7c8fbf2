#if Persistence
  import Foundation

  /// The identity of the file at a path.
  struct FileIdentity: Equatable {
    private let device: dev_t
    private let number: ino_t
    /// Whether the file was empty when it was looked at. That may change, and the file stays the same.
    let isEmpty: Bool
    /// Whether the file has another name, by a hard link.
    let hasOtherNames: Bool

    /// `nil` if the file does not exist or cannot be examined.
    init?(path: String) {
      var status = stat()
      guard stat(path, &status) == 0 else { return nil }
      (device, number) = (status.st_dev, status.st_ino)
      isEmpty = status.st_size == 0
      hasOtherNames = status.st_nlink > 1
    }

    var place: StorePlace {
      .file(device: UInt64(truncatingIfNeeded: device), number: UInt64(truncatingIfNeeded: number))
    }

    static func == (a: FileIdentity, b: FileIdentity) -> Bool { a.device == b.device && a.number == b.number }

    /// Whether this file is still at a path, and was not emptied.
    func isIntact(at path: String) -> Bool {
      guard let present = FileIdentity(path: path) else { return false }
      return present == self && !present.isEmpty
    }
  }
#endif
