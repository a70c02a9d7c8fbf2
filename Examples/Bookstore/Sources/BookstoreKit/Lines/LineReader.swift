import Foundation

/// Reads lines from a file descriptor as they come, so that a pipe's lines need not wait for a full buffer.
public struct LineReader: Sendable {
  struct Line {
    let number: Int
    let bytes: Result<[UInt8], EventProblem>
  }

  static let longest = 1 << 20

  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private var start = 0
  private var searched = 0
  private var number = 0
  private var isAtEnd = false
  private var failure: String?

  public init(descriptor: Int32) { self.descriptor = descriptor }

  /// The next line without its end; `nil` after the last. Waits until there is one.
  mutating func next() -> Line? {
    var isTooLong = false
    while true {
      if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        return line(upTo: end, isTooLong: isTooLong)
      }
      searched = buffer.count
      if isAtEnd {
        if start < buffer.count || isTooLong { return line(upTo: buffer.count, isTooLong: isTooLong) }
        guard let reason = failure else { return nil }
        failure = nil
        return Line(number: number + 1, bytes: .failure(.malformed("cannot be read: \(reason)")))
      }
      if buffer.count - start > Self.longest {
        isTooLong = true
        start = buffer.count
      }
      fill()
    }
  }

  private mutating func line(upTo end: Int, isTooLong: Bool) -> Line {
    number += 1
    let bytes = buffer[start..<end]
    start = min(end + 1, buffer.count)
    searched = start
    guard !isTooLong, bytes.count <= Self.longest else {
      return Line(number: number, bytes: .failure(.malformed("longer than \(Self.longest) bytes")))
    }
    return Line(number: number, bytes: .success(Array(bytes)))
  }

  private mutating func fill() {
    buffer.removeFirst(start)
    searched -= start
    start = 0
    var chunk = [UInt8](repeating: 0, count: 1 << 14)
    while true {
      let count = chunk.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        buffer.append(contentsOf: chunk[..<count])
        return
      }
      // A signal (the window was resized) interrupts a read; nothing is lost.
      if count < 0, errno == EINTR { continue }
      if count < 0 { failure = String(cString: strerror(errno)) }
      isAtEnd = true
      return
    }
  }
}
