import Concord
import ConcordTestSupport
import Foundation
import Testing

@testable import ConcordConnect

@Suite("Scheduled actions")
struct ScheduleTests {
  /// Counts its runs, and lets them wait.
  final class Sync: GenericAction, Sendable {
    let runs = Log<Int>()
    let ends = Log<Int>()
    let meter = ActionTests.Meter()
    private let gate = Locked<Gate?>(nil)
    func hold(_ new: Gate?) { gate.withLock { $0 = new } }
    func execute() async throws {
      meter.enter()
      runs.add(0)
      await gate.withLock { $0 }?.passed()
      meter.leave()
      ends.add(0)
    }
    func cancel() {}
  }

  private func withSchedules(
    _ body: (GenericConnect<ContextStrategy.Mixed>, VirtualClock, ReachabilitySwitch) async throws -> Void
  ) async throws {
    let (clock, network) = (VirtualClock(), ReachabilitySwitch())
    let connect = GenericConnect<ContextStrategy.Mixed>(
      name: "Library", model: try libraryModel(), clock: clock, reachability: network)
    try connect.attachPersistentStore(for: StoreConfiguration(type: .inMemory))
    let result = await Result { try await body(connect, clock, network) }
    try await connect.stop()
    try result.get()
  }

  /// Waits until all sleep again that repeat, then lets the time pass.
  private func pass(_ duration: Duration, _ clock: VirtualClock, sleepers: Int = 1) async throws {
    #expect(try await eventually { clock.sleepers == sleepers })
    clock.advance(by: duration)
  }

  private struct SyncStrangers: EntityAction, Sendable {
    typealias ManagedObjectType = Stranger
    func execute(context: ActionContext) throws {}
  }

  @Test("An action that can never be executed is reported, once for its schedule")
  func impossible() async throws {
    let (clock, errors) = (VirtualClock(), Log<String>())
    let connect = GenericConnect<ContextStrategy.Mixed>(
      name: "Library", model: try libraryModel(), asyncErrorBlock: { errors.add("\($0)") }, clock: clock)
    try connect.attachPersistentStore(for: StoreConfiguration(type: .inMemory))
    connect.schedule(SyncStrangers(), .atStart, .every(.seconds(60)))
    try await connect.start()
    #expect(try await eventually { !errors.entries.isEmpty })
    for _ in 0..<2 { try await pass(.seconds(60), clock) }
    try await connect.stop()
    #expect(errors.entries == ["Entity 'Stranger' not managed by Connect 'Library'"])
  }

  @Test("At each start")
  func atStart() async throws {
    try await withSchedules { connect, _, _ in
      let sync = Sync()
      connect.schedule(sync, .atStart)
      #expect(sync.runs.entries.isEmpty)
      try await connect.start()
      #expect(try await eventually { sync.ends.entries.count == 1 })
      try await connect.stop()
      try await connect.start()
      #expect(try await eventually { sync.ends.entries.count == 2 })
      // At once, if it is started.
      let other = Sync()
      connect.schedule(other, .atStart)
      #expect(try await eventually { other.ends.entries.count == 1 })
      #expect(sync.ends.entries.count == 2)
    }
  }

  @Test("Every minute, the first time after one")
  func every() async throws {
    try await withSchedules { connect, clock, _ in
      let sync = Sync()
      connect.schedule(sync, .every(.seconds(60)))
      try await connect.start()
      try await pass(.seconds(59), clock)
      #expect(sync.runs.entries.isEmpty && clock.sleepers == 1)
      for count in 1...5 {
        try await pass(count == 1 ? .seconds(1) : .seconds(60), clock)
        #expect(try await eventually { sync.ends.entries.count == count })
        // Until those who keep the schedule know that it has ended: an interval that ends before is left out.
        try await connect.settled()
      }
    }
  }

  @Test("Settled, what an interval that has ended makes due is done, however soon it ends")
  func everySettled() async throws {
    for _ in 0..<50 {
      try await withSchedules { connect, clock, _ in
        let (sync, other) = (Sync(), Sync())
        try await connect.start()
        connect.schedule(sync, .every(.seconds(60)))
        let schedule = connect.schedule(other, .every(.seconds(20)))
        for count in 1...3 {
          clock.advance(by: .seconds(60))
          try await connect.settled()
          #expect(sync.ends.entries.count == count && other.ends.entries.count == count)
        }
        schedule.cancel()
        clock.advance(by: .seconds(20))
        try await connect.settled()
        #expect(other.ends.entries.count == 3)
      }
    }
  }

  @Test("When the network returns, and not while it is there")
  func reachable() async throws {
    try await withSchedules { connect, _, network in
      let sync = Sync()
      connect.schedule(sync, .whenReachable)
      try await connect.start()
      await (try connect.execute(Work {})).finished()
      #expect(sync.runs.entries.isEmpty)
      for count in 1...3 {
        network.isReachable = false
        network.isReachable = true
        #expect(try await eventually { sync.ends.entries.count == count })
      }
    }
  }

  @Test("`settled()` waits for what is due because the network has returned")
  func reachableIsSettled() async throws {
    try await withSchedules { connect, _, network in
      let sync = Sync()
      connect.schedule(sync, .whenReachable)
      try await connect.start()
      for count in 1...100 {
        network.isReachable = false
        network.isReachable = true
        try await connect.settled()
        #expect(sync.ends.entries.count == count)
      }
    }
  }

  @Test("A start without network waits for its return")
  func startOffline() async throws {
    try await withSchedules { connect, _, network in
      network.isReachable = false
      let sync = Sync()
      connect.schedule(sync, .whenReachable)
      try await connect.start()
      network.isReachable = true
      #expect(try await eventually { sync.ends.entries.count == 1 })
    }
  }

  @Test("Never two of one kind at once: an interval is left out, a return of the network is made up for, once")
  func neverTwo() async throws {
    try await withSchedules { connect, clock, network in
      let (sync, gate) = (Sync(), Gate())
      sync.hold(gate)
      connect.schedule(sync, .atStart, .every(.seconds(60)), .whenReachable)
      try await connect.start()
      #expect(try await eventually { sync.runs.entries.count == 1 })
      for _ in 0..<3 { try await pass(.seconds(60), clock) }
      #expect(try await eventually { clock.sleepers == 1 })
      // Only intervals were missed: nothing is to be done afterwards.
      let next = Gate()
      sync.hold(next)
      gate.open()
      // Also those who keep the schedule know that it has ended.
      try await connect.settled()
      #expect(sync.ends.entries.count == 1)
      try await pass(.seconds(60), clock)
      #expect(try await eventually { sync.runs.entries.count == 2 })
      for _ in 0..<3 {
        network.isReachable = false
        network.isReachable = true
      }
      try await Task.sleep(for: .milliseconds(50))
      #expect(sync.runs.entries.count == 2)
      sync.hold(nil)
      next.open()
      #expect(try await eventually { sync.ends.entries.count == 3 })
      try await Task.sleep(for: .milliseconds(20))
      #expect(sync.runs.entries.count == 3 && sync.meter.most == 1)
    }
  }

  @Test("Two schedules of one kind do not run at once either; other kinds do")
  func twoSchedules() async throws {
    struct Other: GenericAction, Sendable {
      let ran: Gate
      func execute() async throws { ran.open() }
    }
    try await withSchedules { connect, _, _ in
      let (first, second, gate, ran) = (Sync(), Sync(), Gate(), Gate())
      first.hold(gate)
      connect.schedule(first, .atStart)
      connect.schedule(second, .atStart)
      connect.schedule(Other(ran: ran), .atStart)
      try await connect.start()
      await ran.passed()
      #expect(try await eventually { first.runs.entries.count == 1 })
      #expect(second.runs.entries.isEmpty)
      gate.open()
      #expect(try await eventually { second.ends.entries.count == 1 })
    }
  }

  @Test("Many schedules of one kind that are due at once are all executed, one after another")
  func manySchedules() async throws {
    try await withSchedules { connect, clock, _ in
      let (syncs, meter, gate) = ((0..<5).map { _ in Sync() }, ActionTests.Meter(), Gate())
      syncs[0].hold(gate)
      for sync in syncs { connect.schedule(sync, .atStart) }
      let shelves = (0..<3).map { number in Shelf(number: number, meter: meter, runs: Log<Int>()) }
      for shelf in shelves { connect.schedule(shelf, .every(.seconds(60))) }
      try await connect.start()
      #expect(try await eventually { syncs[0].runs.entries.count == 1 })
      gate.open()
      #expect(try await eventually { syncs.allSatisfy { $0.ends.entries.count == 1 } })
      // An interval of one is no reason to leave out that of another.
      for turn in 1...3 {
        try await pass(.seconds(60), clock, sleepers: 3)
        #expect(try await eventually { shelves.allSatisfy { $0.runs.entries.count == turn } })
        try await connect.settled()
      }
      #expect(meter.most == 1)
    }
  }

  /// One of several places that are synchronised by actions of one type.
  private struct Shelf: GenericAction, Sendable {
    let number: Int
    let meter: ActionTests.Meter
    let runs: Log<Int>
    func execute() async throws {
      meter.enter()
      try await Task.sleep(for: .milliseconds(5))
      meter.leave()
      runs.add(number)
    }
  }

  @Test("A schedule that is cancelled, or whose connect is stopped, executes nothing")
  func cancelling() async throws {
    try await withSchedules { connect, clock, network in
      let sync = Sync()
      let schedule = connect.schedule(sync, .every(.seconds(60)), .whenReachable)
      try await connect.start()
      #expect(try await eventually { clock.sleepers == 1 })
      try await connect.stop()
      #expect(try await eventually { clock.sleepers == 0 })
      network.isReachable = false
      network.isReachable = true
      try await connect.start()
      #expect(try await eventually { clock.sleepers == 1 })
      schedule.cancel()
      #expect(try await eventually { clock.sleepers == 0 })
      clock.advance(by: .seconds(600))
      network.isReachable = false
      network.isReachable = true
      await (try connect.execute(Work {})).finished()
      #expect(sync.runs.entries.isEmpty)
    }
  }

  /// Says that the network went; that it returned only when the gate opens, whoever was cancelled meanwhile.
  private struct SlowNetwork: Reachability {
    let isWaiting = Log<Int>()
    let gate = Gate()
    private let next = Locked([false, true])

    var states: AsyncStream<Bool> {
      AsyncStream {
        guard let state = next.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return nil }
        if state {
          isWaiting.add(0)
          await gate.passed()
        }
        return state
      }
    }
  }

  @Test("What a schedule awaited before it was stopped comes too late when it was started again")
  func tooLate() async throws {
    let (network, runs) = (SlowNetwork(), Log<Int>())
    let keeper = ScheduleKeeper(clock: VirtualClock(), reachability: network) { _ in }
    keeper.start()
    let schedule = keeper.add(Work.self, [.whenReachable]) { whenFinished in
      runs.add(0)
      whenFinished()
    }
    #expect(try await eventually { network.isWaiting.entries.count == 1 })
    keeper.stop()
    keeper.start()
    network.gate.open()
    try await Task.sleep(for: .milliseconds(50))
    #expect(runs.entries.isEmpty)
    schedule.cancel()
  }

  @Test("An action that fails is executed again all the same, and one that says itself when is")
  func failing() async throws {
    final class Failing: EntityAction, ScheduledAction {
      typealias ManagedObjectType = Book
      let runs = Log<Int>()
      var schedule: [ScheduleTrigger] { [.every(.seconds(1)), .atStart] }
      func execute(context: ActionContext) async throws {
        runs.add(0)
        throw Failure()
      }
    }
    try await withSchedules { connect, clock, _ in
      let action = Failing()
      connect.schedule(action)
      try await connect.start()
      #expect(try await eventually { action.runs.entries.count == 1 })
      // The next turn comes after its end.
      #expect(try await eventually { clock.sleepers == 1 })
      try await connect.settled()
      for count in 2...4 {
        try await pass(.seconds(1), clock)
        #expect(try await eventually { action.runs.entries.count == count })
        try await connect.settled()
      }
    }
  }

  @Test("Starts and stops from many threads leave one waiting task for each schedule")
  func stress() async throws {
    try await withSchedules { connect, clock, _ in
      let sync = Sync()
      for _ in 0..<5 { connect.schedule(sync, .every(.seconds(60))) }
      await withTaskGroup(of: Void.self) { group in
        for index in 0..<100 {
          group.addTask { if index % 2 == 0 { try? await connect.start() } else { try? await connect.stop() } }
        }
      }
      try await connect.start()
      #expect(try await eventually { clock.sleepers == 5 })
      try await connect.stop()
      #expect(try await eventually { clock.sleepers == 0 })
    }
  }
}
