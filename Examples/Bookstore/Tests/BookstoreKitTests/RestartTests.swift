import Concord
import Foundation
import Testing

@testable import BookstoreKit

/// The program with a shop on disk, started, ended and killed.
@Suite("Started again")
struct RestartTests {
  private func screens(_ ending: Program.Ending) -> Substring {
    ending.output.prefix(upTo: ending.output.firstRange(of: " events in")?.lowerBound ?? ending.output.endIndex)
      .split(separator: "\n").dropLast().joined(separator: "\n")[...]
  }

  @Test("After it has ended, the screens are as they were")
  func ended() throws {
    try withFolder { folder in
      let first = try Program.run(["--headless", "--store", folder.path, "--count", "400"])
      #expect(first.status == 0, "\(first.errors)")
      let second = try Program.run(["--headless", "--store", folder.path, "--events", "-"])
      #expect(second.status == 0, "\(second.errors)")
      #expect(screens(second) == screens(first))
      #expect(screens(first).contains("── Shelf"))
      let new = try Program.run(["--headless", "--store", "memory", "--events", "-"])
      #expect(screens(new) != screens(first))
      let third = try Program.run(["--headless", "--store", folder.path, "--count", "400", "--seed", "2"])
      #expect(third.status == 0 && third.output.contains("all screens agree"), "\(third.errors)")
    }
  }

  @Test("Each event in the file is acknowledged with the number of its line, and no other is")
  func acknowledged() throws {
    let ending = try Program.run(
      ["--headless", "--acknowledge", "--events", "-"],
      input: """
        {"type":"price","book":"emma","cents":1,"at":5}

        {"type":"price","book":"emma","cents":2,"at":4}
        {"type":"price","book":"no-such-book","cents":3}
        {"type":"price","book":"emma","cents":4,"at":6}
        """)
    #expect(ending.status == 0)
    #expect(ending.output.split(separator: "\n").filter { $0.hasPrefix("saved ") } == ["saved 1", "saved 5"])
    let none = try Program.run(["--headless", "--count", "5"])
    #expect(!none.output.contains("saved"))
  }

  @Test("An acknowledgement comes at once, while the feed goes on")
  func atOnce() throws {
    try withFolder { folder in
      let running = try Running(["--store", folder.path])
      for line in 1...5 {
        try running.write("{\"type\":\"price\",\"book\":\"emma\",\"cents\":\(line)}\n")
        #expect(running.nextAcknowledged() == line)
      }
      running.kill()
      let again = try Program.run(["--headless", "--store", folder.path, "--events", "-", "--book", "emma"])
      #expect(again.status == 0 && again.output.contains("price  0.05"), "\(again.output)")
    }
  }

  @Test("Killed at any moment, it has all that it acknowledged, in order, and half of nothing")
  func killed() throws {
    try withFolder { folder in
      let catalogue = try Catalogue.open(nil)
      for round in 1...20 {
        // What there is now, and what will come.
        let shop = try Shop(at: .folder(folder), newCatalogue: catalogue)
        var ledger = try shop.ledger()
        let events = Self.events(shop.catalogue, round: round)
        try shop.close()

        let running = try Running(["--store", folder.path])
        running.writeInBackground(try events.map { try $0.json() + "\n" }.joined())
        let first = running.nextAcknowledged() ?? 0
        Thread.sleep(forTimeInterval: .random(in: 0...0.2))
        running.kill()
        let acknowledged = running.allAcknowledged().max() ?? first

        for event in events.prefix(acknowledged) { ledger.receive(event, stamp: .infinity.nextDown) }
        let again = try Shop(at: .folder(folder), newCatalogue: catalogue)
        let found = again.catalogue.books
        try again.close()
        // One more may be in the file, about which nothing could be said any longer.
        let before = ledger.list
        if events.indices.contains(acknowledged) { ledger.receive(events[acknowledged], stamp: .infinity.nextDown) }
        #expect(acknowledged > 0)
        #expect(found == before || found == ledger.list, "round \(round), after \(acknowledged) events")
      }
    }
  }

  /// Changes of different books, each in one way or another.
  private static func events(_ catalogue: Catalogue, round: Int) -> [Event] {
    (0..<400).map { number in
      let book = catalogue.books[number % catalogue.books.count].id
      switch number % 4 {
      case 0:
        return Event(.review(book: book, Review(id: "\(round)-\(number)", stars: 3, by: "Ada", text: "So so.")))
      case 1 where number % 40 == 1: return Event(.remove(book: book))
      case 2: return Event(.title(book: book, title: "\(round) \(number)"))
      default: return Event(.price(book: book, cents: round * 1000 + number))
      }
    }
  }

  @Test("A place that is none is told with the reason, and ends the program with 73")
  func noPlace() throws {
    try withFolder { folder in
      let file = folder.appendingPathComponent("file")
      try Data("text".utf8).write(to: file)
      let inFile = try Program.run(["--headless", "--store", file.path])
      #expect(inFile.status == 73)
      #expect(inFile.errors.hasPrefix("bookstore: \(file.path): "), "\(inFile.errors)")
      #expect(!inFile.errors.contains("Domain"), "\(inFile.errors)")
      #expect(inFile.output.isEmpty)

      let damaged = folder.appendingPathComponent("bookstore.sqlite")
      try Data(repeating: 7, count: 8192).write(to: damaged)
      let noDatabase = try Program.run(["--headless", "--store", folder.path])
      #expect(noDatabase.status == 73)
      #expect(noDatabase.errors.contains("bookstore.sqlite"), "\(noDatabase.errors)")
      #expect(try Data(contentsOf: damaged) == Data(repeating: 7, count: 8192))
      #expect(try Program.run(["--headless", "--store", ""]).status == 64)
    }
  }

  #if os(Linux)
    @Test("Without a place it is in the user's folder for data, and nowhere with 'memory'")
    func usualPlace() throws {
      try withFolder { home in
        let environment = ["HOME": home.path, "XDG_DATA_HOME": home.appendingPathComponent("data").path]
        let memory = try Program.run(["--headless", "--store", "memory", "--count", "1"], environment: environment)
        #expect(memory.status == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.path) == [])
        let usual = try Program.run(["--headless", "--count", "1"], environment: environment)
        #expect(usual.status == 0, "\(usual.errors)")
        let file = home.appendingPathComponent("data/Concord/bookstore.sqlite")
        #expect(FileManager.default.fileExists(atPath: file.path))
      }
    }
  #endif
}

/// A program that is fed, read, and killed. It is asked from one thread at a time.
private final class Running {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var unread = Data()

  init(_ arguments: [String]) throws {
    // Writing to one that was killed is an error, and not the end of the tests.
    signal(SIGPIPE, SIG_IGN)
    process.executableURL = Program.executable
    process.arguments = ["--headless", "--acknowledge", "--events", "-"] + arguments
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
  }

  func write(_ text: String) throws { try input.fileHandleForWriting.write(contentsOf: Data(text.utf8)) }

  /// The program takes lines more slowly than they are written, and may be killed meanwhile.
  func writeInBackground(_ text: String) {
    let handle = input.fileHandleForWriting
    Thread.detachNewThread { try? handle.write(contentsOf: Data(text.utf8)) }
  }

  /// The number of the next line that was acknowledged; `nil` if the program ends before.
  func nextAcknowledged() -> Int? {
    while true {
      if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: unread[..<end], as: UTF8.self)
        unread = Data(unread[unread.index(after: end)...])
        if line.hasPrefix("saved ") { return Int(line.dropFirst(6)) }
        continue
      }
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { return nil }
      unread += more
    }
  }

  /// All that were acknowledged and not read yet. The program has ended.
  func allAcknowledged() -> [Int] {
    var found: [Int] = []
    while let next = nextAcknowledged() { found.append(next) }
    return found
  }

  func kill() {
    _ = Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
