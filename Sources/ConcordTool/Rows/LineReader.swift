#if Tool
  import Foundation

  /// Reads lines from a file, or from the standard input.
  struct LineReader {
    private let handle: FileHandle
    private let name: String
    private var buffer = Data()
    private var isAtEnd = false
    /// Of the line that was read last, from 1.
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
      do {
        let more = try handle.read(upToCount: 1 << 18) ?? Data()
        isAtEnd = more.isEmpty
        if !more.isEmpty { buffer += more }
      } catch { throw ToolError(.missing, "\(name) cannot be read: \(error.localizedDescription)") }
    }
  }
#endif
