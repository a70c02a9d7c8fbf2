import BookstoreShared
import Foundation
import Testing

/// What devices show, checked from outside: by what the server has written down, and what they have said.
@Suite("device", .serialized)
struct LawTests {
  /// A process of a device, and the file to which it says everything.
  private struct Device {
    let running: Running
    let file: URL

    /// What it has said, when it has ended by itself.
    func ended() throws -> [DeviceLine] {
      #expect(running.status() == 0, "\(running.complaints)")
      return try said()
    }

    func said() throws -> [DeviceLine] { try lines(of: Data(contentsOf: file)) }
  }

  private func device(_ server: ServerProcess, _ user: String, actions: Int, seed: Int, states: Bool = false) throws
    -> Device
  {
    let file = server.folder.appendingPathComponent("\(user)-\(seed)")
    let arguments = [
      "device", "--server", server.url.absoluteString, "--user", user, "--actions", "\(actions)", "--seed", "\(seed)",
      "--store", server.folder.appendingPathComponent(user).path,
    ]
    return Device(
      running: try Running(arguments + (states ? ["--states"] : []), in: server.folder, output: file), file: file)
  }

  @Test(
    "Two devices, one of which is killed again and again: each state that they show is one of the server's, with what is pending above; each action has its effect once",
    .timeLimit(.minutes(5)))
  func law() async throws {
    try await withServer { try await expectLaw($0) }
  }

  #if PostgreSQL
    @Test("It holds over a database, too", .enabled(if: DatabaseProcess.isInstalled), .timeLimit(.minutes(5)))
    func lawOverDatabase() async throws {
      try await withFolder { folder in
        let database = try #require(try DatabaseProcess(in: folder), "PostgreSQL has not started")
        defer { database.end() }
        let server = try ServerProcess(in: folder, store: database.url)
        defer { server.kill() }
        try await expectLaw(server)
      }
    }
  #endif

  @Test(
    "What another program writes is in the history before a device shows it, and nothing else need be written",
    .timeLimit(.minutes(5)))
  func foreign() async throws {
    try await withServer { server in
      let file = server.folder.appendingPathComponent("server/server.sqlite").path
      let program = "import sqlite3, sys; d = sqlite3.connect(sys.argv[1]); d.execute(sys.argv[2]); d.commit()"
      try await expectForeign(server) { try run(["python3", "-c", program, file, $0]) }
    }
  }

  #if PostgreSQL
    @Test(
      "What psql writes is in the history before a device shows it", .enabled(if: DatabaseProcess.isInstalled),
      .timeLimit(.minutes(5)))
    func foreignOverDatabase() async throws {
      try await withFolder { folder in
        let database = try #require(try DatabaseProcess(in: folder), "PostgreSQL has not started")
        defer { database.end() }
        let server = try ServerProcess(in: folder, store: database.url)
        defer { server.kill() }
        try await expectForeign(server) {
          try run(["psql", "-X", "-q", "-d", database.url, "-c", "SET search_path TO concord; \($0)"])
        }
      }
    }
  #endif

  private func run(_ arguments: [String]) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(arguments)")
  }

  private func expectForeign(_ server: ServerProcess, _ execute: (String) throws -> Void) async throws {
    var lines = try device(server, "ada", actions: 0, seed: 1, states: true).ended()
    for number in 1...2 {
      // Two commits, of which a device sees the last state.
      for part in ["a", "b"] {
        try execute("UPDATE \"Book\" SET title = 'Foreign \(number)\(part)' WHERE id = 'emma'")
      }
      lines += try device(server, "ada", actions: 0, seed: number + 1, states: true).ended()
      let history = try server.history()
      let states = CommittedStates(history)
      #expect(states.violations(of: lines, customer: "ada") == [])
      let shown = try #require(lines.last { $0.position != nil })
      #expect(CommittedStates.name(shown.position ?? "") == CommittedStates.name(history.last?.to ?? "-"))
      let book = try #require(shown.rows?.first { $0.entity == "Book" && $0.id == .text("emma") })
      #expect(book.row?["title"] == .text("Foreign \(number)b"))
    }
  }

  private func expectLaw(_ server: ServerProcess) async throws {
    let steady = try device(server, "ada", actions: 30, seed: 1, states: true)
    var killed: [DeviceLine] = []
    for round in 1...3 {
      let device = try device(server, "ben", actions: 1000, seed: round + 1)
      // Until its own actions are on their way, and a little longer.
      #expect(try await eventually { try device.said().contains { $0.decided != nil } })
      try await Task.sleep(for: .milliseconds(.random(in: 0...300)))
      device.running.end(SIGKILL)
      killed += try device.said()
      if round == 2 {
        server.kill()
        try server.startAgain()
      }
    }
    // As many as it takes for the server to refuse some: those before may have been killed too soon for that.
    killed += try device(server, "ben", actions: 60, seed: 5).ended()
    var kept = try steady.ended()
    // Both get what the other one did last.
    kept += try device(server, "ada", actions: 0, seed: 6).ended()
    killed += try device(server, "ben", actions: 0, seed: 7).ended()

    let states = CommittedStates(try server.history())
    for (lines, customer) in [(kept, "ada"), (killed, "ben")] {
      let found = states.violations(of: lines, customer: customer)
      #expect(found.isEmpty, "\(customer): \(found.prefix(5))")
      #expect(lines.contains { $0.reason == "it is not allowed" })
      #expect(lines.contains { !($0.pending ?? []).isEmpty })
      let end = try #require(lines.last { $0.position != nil })
      #expect(
        end.pending == [] && end.digest == RowRecord.digest(CommittedStates.rows(of: states.last, for: customer)))
    }
    #expect(Set(kept.compactMap(\.position)).count > 5)
    try expectFound(states, kept)
  }

  /// What is planted is found.
  private func expectFound(_ states: CommittedStates, _ all: [DeviceLine]) throws {
    // A few states are enough, and sooner compared; each another one, and with no layers but those that are planted.
    var shown: [DeviceLine] = []
    for var line in all where line.rows != nil {
      if let last = shown.last?.position, CommittedStates.name(last) == line.position.map(CommittedStates.name) {
        shown.removeLast()
      }
      line.pending = []
      shown.append(line)
    }
    try #require(shown.count >= 3)
    let lines = all.filter { $0.position == nil } + shown.suffix(3)
    func isFound(_ change: (inout [DeviceLine]) -> Void) -> Bool {
      var changed = lines
      change(&changed)
      return !states.violations(of: changed, customer: "ada").isEmpty
    }
    let last = lines.count - 1
    let key = try #require(lines.compactMap { $0.isAccepted == true ? $0.decided : nil }.first)
    let refused = try #require(lines.compactMap { $0.isAccepted == false ? $0.decided : nil }.first)
    #expect(!isFound { _ in })
    #expect(isFound { $0[last].rows?.removeLast() } && isFound { $0[last].digest = "0" })
    #expect(isFound { $0[last].position = "1.0" } && isFound { $0[last].pending = [key] })
    #expect(isFound { $0.swapAt(last, last - 2) })
    // An action that was pending is neither there nor pending; one that was refused need not be.
    #expect(isFound { $0[last - 1].pending = ["lost"] } && !isFound { $0[last - 1].pending = [refused] })
    // Two are pending in another order than they were queued in, or than before.
    func isFound(pending: [String], then: [String], queued: [String]) -> Bool {
      isFound { changed in
        (changed[last - 1].pending, changed[last].pending) = (pending, then)
        changed.insert(contentsOf: queued.map { DeviceLine(queued: $0) }, at: 0)
        changed += ["a", "b"].map { DeviceLine(decided: $0, isAccepted: false) }
      }
    }
    #expect(!isFound(pending: ["a"], then: ["a", "b"], queued: ["a", "b"]))
    #expect(isFound(pending: ["b"], then: ["b", "a"], queued: ["a", "b"]))
    #expect(isFound(pending: ["a", "b"], then: ["b", "a"], queued: []))
    #expect(isFound { $0.append(DeviceLine(queued: "lost")) })
    #expect(isFound { $0.append(DeviceLine(decided: key, isAccepted: false)) })
    #expect(isFound { $0.append(DeviceLine(decided: refused, isAccepted: true)) })
    #expect(!states.violations(of: lines, customer: "ben").isEmpty)
  }
}
