import Concord
import ConcordTestSupport
import Foundation
import Testing

@testable import ConcordConnect

@Suite("Patience")
struct PatienceTests {
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

  @Test(
    "Whatever a backoff is made of, no wait is below zero or above the cap, and a limit costs no step for each failure")
  func oddBackoffs() {
    let longest = Duration(attoseconds: .max)
    for base in [.seconds(-1), .zero, Duration(attoseconds: 1), .seconds(Int64.max), longest] {
      for cap in [.seconds(-1), .zero, Duration(attoseconds: 1), .seconds(Int64.max), longest] {
        let backoff = Backoff(base: base, cap: cap)
        for failures in [.min, -1, 0, 1, 200, .max] {
          #expect((.zero...max(.zero, cap)).contains(backoff.limit(after: failures)))
        }
        #expect(backoff.limit(after: .max) == (base > .zero ? max(.zero, cap) : .zero))
      }
    }
  }

  @Test("Unless something else is said, limits go from half a second to a minute, and there is no end")
  func defaults() {
    #expect(Backoff().limit(after: 0) == .milliseconds(500) && Backoff().limit(after: 1) == .seconds(1))
    #expect(Backoff().limit(after: 6) == .seconds(32) && Backoff().limit(after: 7) == .seconds(60))
    #expect(OutboxPolicy().backoff == Backoff() && OutboxPolicy().maximumAttempts == nil)
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
      network.isReachable = true
      await connect.outbox.idle()
      #expect(transport.requests.count == 4)
      #expect(try await eventually { delays.entries.count == 3 })
      let limits = (0..<3).map { Backoff().limit(after: $0) }
      #expect(zip(delays.entries, limits).allSatisfy { $0 <= $1 })
      task.cancel()
    }
  }

  @Test("What comes after an action that failed begins anew")
  func anew() async throws {
    let clock = VirtualClock()
    let transport = ScriptedTransport([failure, failure, .pass, failure])
    try await withOutbox(.memory, transport, clock: clock) { connect in
      for note in ["a", "b"] { try await connect.forward(Raise(book: 1, note: note)) }
      for attempts in [[1, 0], [2, 0], [1]] {
        #expect(try await eventually { connect.outbox.pending.map(\.attempts) == attempts })
        await clock.sleepers(atLeast: 1)
        clock.advance(by: .seconds(60))
      }
      await connect.outbox.idle()
      #expect(transport.bodies == ["a", "a", "a", "b", "b"])
    }
  }

  @Test("The network's return does not end what the service has wished")
  func networkAndWish() async throws {
    let (clock, network) = (VirtualClock(), ReachabilitySwitch())
    let busy = ScriptedTransport.Step.answer(TransportResponse(status: 503, headers: ["Retry-After": "30"]))
    let transport = ScriptedTransport([busy])
    try await withOutbox(.memory, transport, clock: clock, network: network) { connect in
      try await connect.forward(Raise(book: 1, note: "a"))
      await clock.sleepers(atLeast: 2)
      for isReachable in [false, true] {
        network.isReachable = isReachable
        #expect(try await eventually { connect.outbox.state.withLock { $0.isReachable } == isReachable })
      }
      connect.outbox.sendNext()
      // It is marked before it is sent.
      #expect(connect.outbox.pending.map(\.isSending) == [false])
      clock.advance(by: .seconds(30))
      await connect.outbox.idle()
      #expect(transport.requests.count == 2)
    }
  }

  @Test("A change whose result cannot be had, however often it is asked for, becomes a dead letter")
  func lostResult() async throws {
    let clock = VirtualClock()
    let lost = ScriptedTransport.Step.answer(TransportResponse(status: 303))
    // A failure between begins the count anew.
    let script = Array(repeating: lost, count: 9) + [failure] + Array(repeating: lost, count: 10)
    let transport = ScriptedTransport(script)
    try await withOutbox(.memory, transport, clock: clock) { connect in
      try await connect.forward(Raise(book: 1, note: "a"))
      for count in 1..<20 {
        await clock.sleepers(atLeast: 1)
        #expect(transport.requests.count == count && connect.outbox.deadLetters.isEmpty)
        clock.advance(by: .seconds(60))
      }
      #expect(try await eventually { !connect.outbox.deadLetters.isEmpty })
      #expect(connect.outbox.deadLetters.map(\.reason) == ["the service answered 303"])
      #expect(transport.requests.count == 20 && Set(transport.keys).count == 1)
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
      #expect(clock.sleepers == 2 && connect.outbox.pending.map(\.isSending) == [false, false])
      clock.advance(by: .seconds(1))
      await connect.outbox.idle()
      #expect(transport.bodies.sorted() == ["a", "a", "b"])
    }
  }

  @Test("`Retry-After` is kept, for all entities, also if the action that failed is not tried again")
  func retryAfterLastAttempt() async throws {
    let clock = VirtualClock()
    let busy = ScriptedTransport.Step.answer(TransportResponse(status: 429, headers: ["Retry-After": "30"]))
    let transport = ScriptedTransport([busy])
    let policy = OutboxPolicy(maximumAttempts: 1)
    try await withOutbox(.memory, transport, policy: policy, clock: clock) { connect in
      try await connect.forward(Raise(book: 1, note: "a"))
      #expect(try await eventually { connect.outbox.deadLetters.count == 1 && clock.sleepers == 1 })
      try await connect.forward(Raise(book: 2, note: "b"))
      clock.advance(by: .seconds(29))
      #expect(clock.sleepers == 1 && connect.outbox.pending.map(\.isSending) == [false])
      clock.advance(by: .seconds(1))
      await connect.outbox.idle()
      #expect(transport.bodies == ["a", "b"])
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

  @Test("Nothing is sent while the connect is suspended, the network is away, or no transport is set")
  func rests() async throws {
    let (transport, network) = (ScriptedTransport(), ReachabilitySwitch())
    try await withOutbox(.memory, transport, network: network) { connect in
      func expectRest(_ note: String) async throws {
        try await connect.forward(Raise(book: 1, note: note))
        try await Task.sleep(for: .milliseconds(30))
        #expect(connect.outbox.pending.count == 1 && transport.requests.isEmpty)
      }
      connect.suspended = true
      try await expectRest("a")
      network.isReachable = false
      try await Task.sleep(for: .milliseconds(30))
      connect.suspended = false
      try await Task.sleep(for: .milliseconds(30))
      #expect(transport.requests.isEmpty)
      connect.outbox.transport = nil
      network.isReachable = true
      try await Task.sleep(for: .milliseconds(30))
      #expect(transport.requests.isEmpty)
      connect.outbox.transport = transport
      await connect.outbox.idle()
      #expect(transport.bodies == ["a"])
    }
  }

  #if Persistence
    @Test("A new start knows of no failures, and sends at once; a stop is no failure")
    func newStart() async throws {
      let clock = VirtualClock()
      let transport = ScriptedTransport([failure, failure, .wait, .wait])
      try await withOutbox(.sqlite, transport, clock: clock) { connect in
        let events = collect(connect.outbox)
        for note in ["a", "b"] { try await connect.forward(Raise(book: note == "a" ? 1 : 2, note: note)) }
        await clock.sleepers(atLeast: 2)
        try await connect.stop()
        try await connect.start()
        #expect(try await eventually { transport.waiting == 2 })
        #expect(connect.outbox.pending.map(\.attempts) == [0, 0])
        try await connect.stop()
        try await connect.start()
        await connect.outbox.idle()
        #expect(clock.now == VirtualClock.Instant())
        #expect(try await eventually { events.entries.filter { $0 == "accepted" }.count == 2 })
        #expect(events.entries.filter { $0 == "delayed" }.count == 2)
      }
    }
  #endif
}
