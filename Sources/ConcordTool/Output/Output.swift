#if Tool
  import Foundation

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// A buffer of a command's output, which is written in large pieces.
  struct Output {
    private let descriptor: Int32
    private var pending: [UInt8] = []
    /// Whether the output goes to a file, which accepts each write as a whole.
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

    /// Waits until the pipe accepts output, which a signal may interrupt. A pipe that is ready accepts at least 4,096 bytes.
    private func waitForReader() throws {
      try Interruption.check()
      if isFile { return }
      var status = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      while poll(&status, 1, 50) == 0 { try Interruption.check() }
    }

    /// Writes the buffer.
    ///
    /// - Throws: an error without a message if the reader has closed the pipe.
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

  /// Calls the system's `write`, whose name a method hides.
  private func write_(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
  }
#endif
