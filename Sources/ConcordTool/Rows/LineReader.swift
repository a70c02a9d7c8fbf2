#if Tool
  import Foundation

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// A reader of lines from a file, or from the standard input.
  struct LineReader {
    private let handle: FileHandle
    private let name: String
    private var buffer = Data()
    private var isAtEnd = false
    /// The number of the last line that was read, from 1.
    private(set) var number = 0

    init(_ path: String?) throws {
      guard let path else {
        handle = .standardInput
        name = "the standard input"
        return
      }
      name = path
      guard let handle = FileHandle(forReadingAtPath: path) else {
        throw ToolError(.missing, "\(path) is not there, or cannot be read")
      }
      self.handle = handle
    }

    mutating func next() throws -> Data? {
      var searched = buffer.startIndex
      while true {
        if let end = buffer[searched...].firstIndex(of: 10) {
          number += 1
          defer { buffer = buffer[(end + 1)...] }
          return buffer[..<end]
        }
        if isAtEnd {
          if buffer.isEmpty { return nil }
          number += 1
          defer { buffer = Data() }
          return buffer
        }
        searched = buffer.endIndex
        try fill()
      }
    }

    private mutating func fill() throws {
      try waitForInput()
      var more = Data(count: 1 << 18)
      let descriptor = handle.fileDescriptor
      let count = more.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
      guard count >= 0 else {
        if errno == EINTR { return }
        throw ToolError(.missing, "\(name) cannot be read: \(String(cString: strerror(errno)))")
      }
      isAtEnd = count == 0
      buffer += more.prefix(count)
    }

    /// Waits until the pipe has input, which a signal may interrupt.
    private func waitForInput() throws {
      var descriptor = pollfd(fd: handle.fileDescriptor, events: Int16(POLLIN), revents: 0)
      while poll(&descriptor, 1, 50) == 0 { try Interruption.check() }
    }
  }
#endif
