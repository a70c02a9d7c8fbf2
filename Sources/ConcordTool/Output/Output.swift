#if Tool
  import Foundation

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// Collects what a command prints, and writes it in large pieces.
  struct Output {
    private let descriptor: Int32
    private var pending: [UInt8] = []

    init(descriptor: Int32 = 1) { self.descriptor = descriptor }

    mutating func line(_ text: String = "") throws {
      pending += text.utf8
      pending.append(10)
      if pending.count >= 65_536 { try flush() }
    }

    mutating func write(_ bytes: [UInt8]) throws {
      pending += bytes
      if pending.count >= 65_536 { try flush() }
    }

    /// - Throws: an error without a message if nobody reads any longer.
    mutating func flush() throws {
      defer { pending.removeAll(keepingCapacity: true) }
      var start = 0
      while start < pending.count {
        let count = pending[start...].withUnsafeBytes { write_(descriptor, $0.baseAddress, $0.count) }
        if count >= 0 {
          start += count
        } else if errno == EPIPE {
          throw ToolError(.done, nil)
        } else if errno != EINTR {
          throw ToolError(.notWritten, "the output cannot be written: \(String(cString: strerror(errno)))")
        }
      }
    }
  }

  /// The system's `write`, whose name is taken above.
  private func write_(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
  }
#endif
