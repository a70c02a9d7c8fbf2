import Foundation
import Testing

/// The customer that is a machine: its process and the server's are killed.
@Suite("work", .serialized)
struct WorkTests {
  private func work(_ server: ServerProcess, actions: Int, seed: Int) throws -> Running {
    try Running(
      [
        "work", "--server", server.url.absoluteString, "--store", server.folder.appendingPathComponent("work").path,
        "--actions", "\(actions)", "--books", "12", "--seed", "\(seed)",
      ], in: server.folder)
  }

  private func queued(_ lines: [String]) -> [(key: String, book: String)] {
    lines.filter { $0.hasPrefix("queued ") }.map { line in
      let parts = line.split(separator: " ")
      return (String(parts[1]), String(parts[2]))
    }
  }

  /// Every key once.
  private func expectApplied(_ queued: [(key: String, book: String)], _ server: ServerProcess) throws {
    let applied = try server.applied()
    let keys = Set(queued.map(\.key))
    #expect(Set(applied).count == applied.count)
    #expect(keys.isSubset(of: applied), "\(keys.subtracting(applied))")
  }

  @Test("What it queues is applied once; the last line is done")
  func runs() async throws {
    try await withServer { server in
      let running = try work(server, actions: 60, seed: 1)
      let lines = running.lines()
      #expect(running.status() == 0, "\(running.complaints)")
      #expect(lines.count == 61 && lines.last == "done")
      try expectApplied(queued(lines), server)
      #expect(try server.applied().count == 60)
      #expect(try work(server, actions: 0, seed: 1).lines() == ["done"])
    }
  }

  @Test("A server that does not go by its name ends both customers with a word", .timeLimit(.minutes(1)))
  func misdirected() async throws {
    try await withServer { server in
      let port = try #require(server.url.port)
      for command in ["work", "page"] {
        let running = try Running(
          [
            command, "--server", "http://0.0.0.0:\(port)", "--store",
            server.folder.appendingPathComponent(command).path,
          ], in: server.folder)
        #expect(running.lines().isEmpty)
        #expect(running.status() == 69 && running.complaints.contains("421"), "\(running.complaints)")
      }
    }
  }

  @Test("Killed at random, with the server, and started again, it loses nothing and does nothing twice")
  func killed() async throws {
    try await withServer { server in
      var all: [(key: String, book: String)] = []
      for round in 1...6 {
        let running = try work(server, actions: 2000, seed: round)
        let first = try #require(running.line(), "\(running.complaints)")
        try await Task.sleep(for: .milliseconds(.random(in: 0...700)))
        if round.isMultiple(of: 2) {
          server.kill()
          try await Task.sleep(for: .milliseconds(.random(in: 0...300)))
        }
        running.end(SIGKILL)
        all += queued([first] + running.lines())
        if round.isMultiple(of: 2) { try server.startAgain() }
      }
      let draining = try work(server, actions: 0, seed: 1)
      #expect(draining.lines() == ["done"], "\(draining.complaints)")
      #expect(draining.status() == 0, "\(draining.complaints)")
      try expectApplied(all, server)
      #expect(try server.applied().count <= all.count + 6)
    }
  }

  @Test("While the server is away it queues, and it ends when the server is back")
  func away() async throws {
    try await withServer { server in
      #expect(try work(server, actions: 1, seed: 1).lines().last == "done")
      server.kill()
      let running = try work(server, actions: 20, seed: 2)
      var lines: [String] = []
      while lines.count < 20, let line = running.line() { lines.append(line) }
      #expect(queued(lines).count == 20)
      try server.startAgain()
      #expect(running.line() == "done")
      #expect(running.status() == 0)
      try expectApplied(queued(lines), server)
    }
  }
}
