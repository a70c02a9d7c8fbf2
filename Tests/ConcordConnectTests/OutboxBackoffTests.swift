import Concord
import ConcordTestSupport
import Foundation
import Testing

@testable import ConcordConnect

@Suite("Waiting after failures")
struct OutboxBackoffTests {
  private let failure = ScriptedTransport.Step.fail(TransportError.timedOut)

  @Test("A wait is between nothing and a limit that doubles up to the cap, anywhere")
  func fullJitter() {
    let backoff = Backoff(base: .seconds(1), cap: .seconds(10))
    #expect((0..<6).map { backoff.limit(after: $0) } == [1, 2, 4, 8, 10, 10].map { .seconds($0) })
    #expect(backoff.limit(after: 1_000_000) == .seconds(10))
    var generator = SystemRandomNumberGenerator()
    for failures in [0, 3, 20] {
      let limit = backoff.limit(after: failures)
      let delays = (0..<2000).map { _ in backoff.delay(after: failures, using: &generator) / limit }
      #expect(delays.allSatisfy { (0...1).contains($0) })
      // Uniform: the mean of 2000 lies so near to a half, but once in 10^12.
      #expect(abs(delays.reduce(0, +) / 2000 - 0.5) < 0.05)
      #expect((delays.min() ?? 1) < 0.02 && (delays.max() ?? 0) > 0.98)
    }
  }

  @Test("Failures are counted and told; waits are those of the clock; the network's return ends them")
  func waits() async throws {
    let (clock, network) = (VirtualClock(), ReachabilitySwitch())
    let transport = ScriptedTransport([failure, failure, failure])
    try await withOutbox(.memory, transport, clock: clock, network: network) { connect in
      let delays = Log<Duration>()
      let events = connect.outbox.events
      let task = Task {
        for await event in events { if case .delayed(_, _, let delay) = event { delays.add(delay) } }
      }
      try await connect.forward(Raise(book: 1, note: "a"))
      for count in 1...2 {
        await clock.sleepers(atLeast: 1)
        #expect(transport.requests.count == count)
        #expect(connect.outbox.pending.first?.attempts == count)
        #expect(connect.outbox.pending.first?.lastError?.contains("in time") == true)
        clock.advanceToNextSleeper()
      }
      await clock.sleepers(atLeast: 1)
      #expect(transport.requests.count == 3)
      network.isReachable = false
      try await Task.sleep(for: .milliseconds(20))
      network.isReachable = true
      await connect.outbox.idle()
      #expect(transport.requests.count == 4)
      #expect(try await eventually { delays.entries.count == 3 })
      let limits = (0..<3).map { Backoff().limit(after: $0) }
      #expect(zip(delays.entries, limits).allSatisfy { $0 <= $1 })
      task.cancel()
    }
  }

  @Test("`Retry-After` is kept, for all entities")
  func retryAfter() async throws {
    let clock = VirtualClock()
    let busy = ScriptedTransport.Step.answer(TransportResponse(status: 429, headers: ["Retry-After": "30"]))
    let transport = ScriptedTransport([busy])
    let policy = OutboxPolicy(backoff: Backoff(base: .zero))
    try await withOutbox(.memory, transport, policy: policy, clock: clock) { connect in
      try await connect.forward(Raise(book: 1, note: "a"))
      await clock.sleepers(atLeast: 2)
      try await connect.forward(Raise(book: 2, note: "b"))
      clock.advance(by: .seconds(29))
      try await Task.sleep(for: .milliseconds(30))
      #expect(transport.bodies == ["a"])
      clock.advance(by: .seconds(1))
      await connect.outbox.idle()
      #expect(transport.bodies.sorted() == ["a", "a", "b"])
    }
  }

  @Test(
    "Whatever a service says in `Retry-After`, one waits a day at most, and not less than nothing",
    arguments: ["9223372036854775807", "99999999999", "Sat, 06 Nov 9999 08:49:37 GMT", "-5", "soon"])
  func senselessRetryAfter(_ text: String) async throws {
    let answer = TransportResponse(status: 503, headers: ["Retry-After": text])
    let policy = OutboxPolicy(backoff: Backoff(base: .zero))
    // The clock that users get, which has its limits.
    try await withOutbox(.memory, ScriptedTransport([.answer(answer)]), policy: policy) { connect in
      let events = connect.outbox.events
      try await connect.forward(Raise(book: 1, note: "a"))
      for await event in events {
        guard case .delayed(_, _, let delay) = event else { continue }
        #expect(delay >= .zero && delay <= .seconds(86_400))
        break
      }
    }
  }
}
