import Foundation
import Testing

@testable import BookstoreKit

@Suite("Lines")
struct LineReaderTests {
  /// What a reader makes of `bytes` that come through a pipe.
  private func lines(_ bytes: [UInt8]) -> [LineReader.Line] {
    let pipe = Pipe()
    let writing = Thread {
      try? pipe.fileHandleForWriting.write(contentsOf: Data(bytes))
      try? pipe.fileHandleForWriting.close()
    }
    writing.start()
    var reader = LineReader(descriptor: pipe.fileHandleForReading.fileDescriptor)
    var lines: [LineReader.Line] = []
    while let line = reader.next() { lines.append(line) }
    return lines
  }

  private func texts(_ text: String) -> [String?] {
    lines(Array(text.utf8)).map { line in (try? line.bytes.get()).map { String(decoding: $0, as: UTF8.self) } }
  }

  @Test("Lines come as they are, the last one also without an end")
  func plain() {
    #expect(texts("") == [])
    #expect(texts("\n") == [""])
    #expect(texts("a\n\nb") == ["a", "", "b"])
    #expect(texts("a\r\nb\n") == ["a\r", "b"])
  }

  @Test("Lines longer than a read are put together")
  func long() {
    let long = String(repeating: "x", count: 100_000)
    #expect(texts("\(long)\n\(long)y\nz") == [long, "\(long)y", "z"])
  }

  @Test("A line that is far too long is one mistake, and the next line still comes")
  func tooLong() throws {
    let read = lines(Array(repeating: UInt8(ascii: "x"), count: LineReader.longest * 3) + Array("\nnext\n".utf8))
    #expect(read.map(\.number) == [1, 2])
    #expect(throws: EventProblem.malformed("longer than 1048576 bytes")) { try read.first?.bytes.get() }
    #expect(try read.last?.bytes.get() == Array("next".utf8))
  }

  @Test("A descriptor that cannot be read is a mistake, not an empty feed")
  func unreadable() {
    var reader = LineReader(descriptor: -1)
    let line = reader.next()
    #expect(throws: EventProblem.self) { try line?.bytes.get() }
    #expect(reader.next() == nil, "it is told once")
  }

  @Test("Malformed lines are told with their numbers, and the next events still arrive")
  func recorded() {
    let pipe = Pipe()
    let text = """
      {"type":"remove","book":"a"}

      nonsense
      \t
      {"type":"remove","book":"b"}\r
      """
    try? pipe.fileHandleForWriting.write(contentsOf: Data(text.utf8))
    try? pipe.fileHandleForWriting.close()
    var source = RecordedEvents(LineReader(descriptor: pipe.fileHandleForReading.fileDescriptor))
    var read: [SourcedEvent] = []
    while let next = source.next() { read.append(next) }
    #expect(read.map(\.line) == [1, 3, 5])
    #expect(read.map { try? $0.event.get().change } == [.remove(book: "a"), nil, .remove(book: "b")])
  }
}
