public import Foundation
import Synchronization

/// A file to which lines of JSON are added, one after the other, from any thread. A process that is killed leaves whole lines, and a part of one
/// at most.
public final class LineFile: Sendable {
  private let descriptor: Int32
  private let isWriting = Mutex(())

  /// - Throws: the system's reason.
  public init(_ url: URL) throws {
    descriptor = open(url.path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
  }

  /// A file that the process has already, as standard output.
  public init(descriptor: Int32) { self.descriptor = dup(descriptor) }

  deinit { close(descriptor) }

  /// - Throws: the system's reason, as that the disk is full.
  public func write(_ line: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    var data = try encoder.encode(line) + Data("\n".utf8)
    // A pipe takes long lines in parts.
    try isWriting.withLock { _ in
      while !data.isEmpty {
        let count = data.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        data = Data(data.dropFirst(count))
      }
    }
  }
}
