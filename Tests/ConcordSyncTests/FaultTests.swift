#if Server && os(Linux)
  import Foundation
  import Testing

  /// Processes that are killed: a server over a file, and two over a database. `CONCORD_FAULT_ROUNDS`, `CONCORD_FAULT_DEVICES` and
  /// `CONCORD_FAULT_ACTIONS` say how many rounds, devices and actions of each of them, `CONCORD_FAULT_KIND` over which of them.
  @Suite struct FaultTests {
    private static let kinds = {
      let kind = ProcessInfo.processInfo.environment["CONCORD_FAULT_KIND"].flatMap(Kind.init)
      return Kind.allCases.filter { $0 != .memory && (kind ?? $0) == $0 }
    }()
    /// The one whose first round has servers that soon forget the rows as they were: the usual run has only one round of each.
    private static let forgetful = kinds.randomElement()

    @Test(
      "Each action has its effect once, and each device shows the server's states, whoever is killed and whatever the network does",
      arguments: kinds)
    func rounds(_ kind: Kind) async throws {
      let rounds = TestOptions.number("CONCORD_FAULT_ROUNDS") ?? 1
      let first = UInt64.random(in: 1...500_000) * 2 + (kind == Self.forgetful ? 0 : 1)
      let seeds = TestOptions.seeds(rounds, from: first)
      var (events, forgotten): ([HostileProxy.Event: Int], Int) = ([:], 0)
      var planted: Set<PlantedPages.Violation> = []
      for seed in seeds {
        print("faults: seed \(seed), \(kind)")
        let outcome = try await FaultRound(
          kind: kind, seed: seed, deviceCount: TestOptions.number("CONCORD_FAULT_DEVICES") ?? 4,
          actions: TestOptions.number("CONCORD_FAULT_ACTIONS") ?? 60
        ).run()
        events.merge(outcome.events, uniquingKeysWith: +)
        forgotten += outcome.forgotten
        planted.formUnion(outcome.planted)
      }
      // The network did all that it is to do, and *Bounded* had its turn.
      for event in HostileProxy.Event.allCases {
        #expect(events[event] ?? 0 > 0, "\(event.rawValue): none, seeds \(seeds), \(kind)")
      }
      if rounds >= 10 { #expect(planted == Set(PlantedPages.Violation.allCases), "seeds \(seeds), \(kind)") }
      if kind == Self.forgetful, seeds.lowerBound == first { #expect(forgotten > 0) }
    }
  }
#endif
