import Foundation
import Testing

/// The program itself, started as a person would start it.
@Suite("Command")
struct CommandTests {
  private func bookstore(_ arguments: [String], input: String = "") throws -> Program.Ending {
    try Program.run(arguments, input: input)
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
    #expect(try bookstore(["--book", "no-such-book", "--print-events"]).status == 64)
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
    let words = [
      "KEYS", "EVENTS", "ON DISK", "EXIT STATUS", "--catalogue", "--rate", "--headless", "--store", "--acknowledge",
      "\"type\":\"price\"",
    ]
    for word in words {
      #expect(help.output.contains(word), "\(word)")
    }
  }
}
