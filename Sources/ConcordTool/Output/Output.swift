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
    /// Which takes all at once.
    private let isFile: Bool

    init(descriptor: Int32 = 1) {
      self.descriptor = descriptor
      var status = stat()
      isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    mutating func line(_ text: String = "") throws {
      pending += text.utf8
      pending.append(10)
      if pending.count >= 65_536 { try flush() }
    }

    mutating func write(_ bytes: [UInt8]) throws {
      pending += bytes
      if pending.count >= 65_536 { try flush() }
    }

    /// Whoever reads a pipe may take his time, and be interrupted meanwhile. A pipe that is ready takes at least 4,096 bytes.
    private func waitForReader() throws {
      try Interruption.check()
      if isFile { return }
      var status = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      while poll(&status, 1, 50) == 0 { try Interruption.check() }
    }

    /// - Throws: an error without a message if nobody reads any longer.
    mutating func flush() throws {
      defer { pending.removeAll(keepingCapacity: true) }
      var start = 0
      while start < pending.count {
        try waitForReader()
        let end = isFile ? pending.count : min(pending.count, start + 4096)
        let count = pending[start..<end].withUnsafeBytes { write_(descriptor, $0.baseAddress, $0.count) }
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
