#if Persistence
  import Concord
  import ConcordConnect
  import ConcordTestShared
  import Foundation
  import Testing

  @Suite("Undoing what was forwarded, killed", .serialized)
  struct OutboxUndoKillTests {
    /// Which numbers the service refuses.
    private static func isRefused(_ number: Int) -> Bool { number > 0 && number.isMultiple(of: 7) }

    /// What a number may count for, after what the processes have said.
    private struct Expected {
      var allowed: [Int: Set<Bool>] = [:]

      mutating func take(_ lines: [String]) {
        for line in lines {
          let words = line.split(separator: " ")
          guard words.count == 3, let number = Int(words[1]) else { continue }
          let isOn = words[2] == "on"
          if words[0] == "at" { allowed[number] = [isOn] } else { allowed[number, default: [false]].insert(isOn) }
        }
      }
    }

    @Test(
      "Whenever the process is killed, a number was put, taken back and put again in turn, up to what it had said or began to say",
      arguments: StoreKind.lasting)
    func killed(_ kind: StoreKind) async throws {
      let seed = TestOptions.seed(.random(in: 0..<1_000_000))
      let rounds = TestOptions.number("CONCORD_KILL_ROUNDS") ?? (TestOptions.isLong ? 200 : kind == .sqlite ? 15 : 5)
      try await withFolder { folder in try await run(kind, rounds, seed, folder) }
    }

    private func run(_ kind: StoreKind, _ rounds: Int, _ seed: UInt64, _ folder: URL) async throws {
      let comment: Comment = "CONCORD_RANDOM_SEED=\(seed) CONCORD_KILL_ROUNDS=\(rounds)"
      var random = SeededNumbers(seed: seed)
      let tallies = 4
      let server = try FaultyServer(
        folder.appending(path: "Server.sqlite"), faults: 8, seed: seed, refusing: Self.isRefused)
      try await server.start()
      var (expected, between, round) = (Expected(), 0, 0)
      // Until one was killed in the middle of something, as most are.
      while round < rounds || between == 0 && round < 20 * rounds {
        defer { round += 1 }
        let child = try ChildProcess([
          "undo-forward", try kind.place(folder), server.url.absoluteString, "\(tallies)", "\(1 + round * 10_000)",
          "\(seed + UInt64(round))",
        ])
        #expect(try await eventually { child.lines.count { $0.hasPrefix("at ") } > 2 || !child.isRunning }, comment)
        try await Task.sleep(for: .microseconds(Int.random(in: 0..<60_000, using: &random)))
        child.kill()
        #expect(!child.lines.contains { $0.hasPrefix("wrong") }, "\(comment) \(child.lines)")
        if child.lines.last?.hasPrefix("going") == true { between += 1 }
        expected.take(child.lines)
      }
      #expect(between > 0, comment)
      let connect = try tallyConnect(
        at: kind.place(folder), server: server.url, tallies: tallies, forwarding: [PutNumber.self], dependents: .goOn)
      try await connect.start()
      #expect(!connect.outbox.undoManager.status.canUndo, comment)
      await connect.outbox.idle()
      #expect(connect.outbox.pending.isEmpty, comment)
      let applied = try server.applied()
      try check(applied.map(\.number), expected, comment)
      for tally in try connect.stored(Tally.self) {
        let numbers = applied.filter { $0.tally == tally.id }.map(\.number)
        #expect(tally.log == numbers.map { " \($0)" }.joined(), comment)
        let shown = try connect.viewContext.find(Tally.self, id: tally.id)?.value
        #expect(shown == tally && tally.count == numbers.count { $0 > 0 } - numbers.count { $0 < 0 }, comment)
      }
      for letter in connect.outbox.deadLetters {
        let number = (letter.entry.action as? PutNumber)?.number
        #expect(number.map(Self.isRefused) == true, "\(comment) \(letter)")
      }
      try await connect.stop()
      await server.stop()
    }

    private func check(_ applied: [Int], _ expected: Expected, _ comment: Comment) throws {
      var signs: [Int: [Int]] = [:]
      for number in applied { signs[abs(number), default: []].append(number.signum()) }
      for (number, signs) in signs {
        #expect(!Self.isRefused(number), "\(comment) \(number) was taken back, and never put")
        // In turn, beginning with what puts it: nothing is lost, doubled or exchanged.
        #expect(signs == signs.indices.map { $0.isMultiple(of: 2) ? 1 : -1 }, "\(comment) \(number)")
      }
      for (number, allowed) in expected.allowed where !Self.isRefused(number) {
        let isOn = !(signs[number] ?? []).count.isMultiple(of: 2)
        #expect(allowed.contains(isOn), "\(comment) \(number) is \(isOn ? "on" : "off")")
      }
    }
  }
#endif
