#if Server
  import ConcordServer
  import Foundation
  import Testing

  @testable import ConcordServer
  @testable import ConcordSync

  /// The time that the bounds of a server have, and what it costs.
  @Suite(.timeLimit(.minutes(1)))
  struct DeadlineTests {
    @Test("Closures are called when their time has come, the earliest first, and none that was cancelled")
    func order() async throws {
      let deadlines = Deadlines()
      let seed = UInt64.random(in: 1...1_000_000)
      print("deadlines: seed \(seed)")
      var numbers = SplitMix(seed)
      let called = Kept<[(number: Int, delay: Duration)]>([])
      let begin = ContinuousClock.now
      var kept: [Int: (Deadlines.Deadline, Int)] = [:]
      for number in 0..<500 {
        // What is cancelled at once must not be due at once.
        let time = Int.random(in: (number % 5 == 0 ? 0 : 200)..<300, using: &numbers)
        let deadline = deadlines.call(after: .milliseconds(time)) {
          called.withLock { $0.append((number, ContinuousClock.now - begin)) }
        }
        kept[number] = (deadline, time)
        // Most of them at once, as requests that are answered.
        if number % 5 != 0 { kept[number] = nil }
      }
      #expect(try await eventually { called.withLock { $0.count } >= kept.count })
      let found = called.withLock { $0 }
      #expect(found.count == 100 && found.allSatisfy { $0.number % 5 == 0 }, "seed \(seed)")
      for (number, delay) in found { #expect(delay >= .milliseconds(kept[number]?.1 ?? .max), "seed \(seed)") }
      #expect(deadlines.counts.bodies == 0)
    }

    @Test("Nothing is kept of those that are cancelled, however late they were")
    func cancelled() async throws {
      let deadlines = Deadlines()
      let first = deadlines.call(after: .seconds(3600)) {}
      for _ in 0..<10_000 { _ = deadlines.call(after: .seconds(3600)) {} }
      #expect(deadlines.counts.bodies == 1 && deadlines.counts.places < 100)
      withExtendedLifetime(first) {}
    }

    #if os(Linux)
      @Test("A wait that has ended leaves nothing in memory until its time would have been over")
      func memory() async throws {
        func residentMemory() throws -> Int {
          let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
          let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
          return try #require(line.flatMap { Int($0.filter(\.isNumber)) }) * 1024
        }
        func wait() async {
          let ticket = LiveTicket {}
          ticket.wake(after: nil)
          _ = await ticket.wait(for: .seconds(3600))
        }
        for _ in 0..<1000 { await wait() }
        let before = try residentMemory()
        for _ in 0..<50_000 { await wait() }
        let growth = try residentMemory() - before
        #expect(growth < 8_000_000, "\(growth) bytes")
      }
    #endif
  }
#endif
