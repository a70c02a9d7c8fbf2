import Foundation
import Testing

/// The program itself, started as a person would start it.
@Suite("Command")
struct CommandTests {
  private struct Ending {
    let status: Int32
    let output: String
    let errors: String
  }

  private func bookstore(_ arguments: [String], input: String = "") throws -> Ending {
    let process = Process()
    process.executableURL = built.appendingPathComponent("bookstore")
    process.arguments = arguments
    // Files, because a pipe that nobody reads yet would hold the program up.
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let files = ["in", "out", "err"].map { folder.appendingPathComponent($0) }
    for file in files { try Data(input.utf8).write(to: file) }
    process.standardInput = try FileHandle(forReadingFrom: files[0])
    for (file, keyPath) in zip(files[1...], [\Process.standardOutput, \Process.standardError]) {
      try Data().write(to: file)
      process[keyPath: keyPath] = try FileHandle(forWritingTo: file)
    }
    try process.run()
    process.waitUntilExit()
    return Ending(
      status: process.terminationStatus,
      output: String(decoding: try Data(contentsOf: files[1]), as: UTF8.self),
      errors: String(decoding: try Data(contentsOf: files[2]), as: UTF8.self))
  }

  private var built: URL {
    #if os(macOS)
      let tests = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") } ?? .main
      return tests.bundleURL.deletingLastPathComponent()
    #else
      return Bundle.main.bundleURL
    #endif
  }

  @Test("Without a terminal it runs 2,000 events, and all screens agree")
  func headless() throws {
    let ending = try bookstore([])
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(ending.output.contains("2000 events"))
    #expect(ending.output.contains("all screens agree"))
    for screen in ["── List", "── Book", "── Author", "── Shelf"] { #expect(ending.output.contains(screen)) }
  }

  @Test("With a screen that is not on the store, all agree, too")
  func legacy() throws {
    let ending = try bookstore(["--legacy"])
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(ending.output.contains("── Legacy"))
  }

  @Test("Events come from standard input; a malformed one is told, counted, and stops nothing")
  func standardInput() throws {
    let ending = try bookstore(
      ["--events", "-"],
      input: """
        {"type":"price","book":"pride-and-prejudice","cents":1}
        {"type":"price","book":"pride-and-prejudice"}
        {"type":"stock","book":"no-such-book","count":1}
        {"type":"price","book":"pride-and-prejudice","cents":98765}
        """)
    #expect(ending.status == 0)
    #expect(ending.output.contains("2 taken, 0 stale, 2 malformed"))
    #expect(ending.output.contains("987.65"))
    #expect(
      ending.errors == """
        standard input:2: "cents" is missing
        standard input:3: there is no book "no-such-book"

        """)
  }

  @Test("A malformed catalogue is told with file, line and reason, and ends the program with 65")
  func catalogue() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).ndjson")
    try Data("\n{\"id\": 3}".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let ending = try bookstore(["--headless", "--catalogue", file.path])
    #expect(ending.status == 65)
    #expect(ending.errors == "bookstore: \(file.path):2: \"id\" must be a string\n")
    #expect(ending.output.isEmpty)
  }

  @Test("What cannot be read ends it with 66, wrong usage with 64")
  func unreadable() throws {
    #expect(try bookstore(["--catalogue", "/nowhere"]).status == 66)
    #expect(try bookstore(["--events", "/nowhere"]).status == 66)
    #expect(try bookstore(["--events", "/"]).status == 66)
    #expect(try bookstore(["--rate", "0"]).status == 64)
    #expect(try bookstore(["--book", "no-such-book"]).status == 64)
  }

  @Test("The events that it prints are events that it takes")
  func printed() throws {
    let printed = try bookstore(["--print-events", "--count", "300", "--seed", "4"])
    #expect(printed.output.split(separator: "\n").count == 300)
    let ending = try bookstore(["--events", "-"], input: printed.output)
    #expect(ending.status == 0)
    #expect(ending.output.contains("0 malformed"))
  }

  @Test("The help explains keys, events and exit status")
  func help() throws {
    let help = try bookstore(["--help"])
    #expect(help.status == 0)
    for word in ["KEYS", "EVENTS", "EXIT STATUS", "--catalogue", "--rate", "--headless", "\"type\":\"price\""] {
      #expect(help.output.contains(word), "\(word)")
    }
  }
}
