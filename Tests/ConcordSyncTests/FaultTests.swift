#if Server && os(Linux)
  import Foundation
  import Testing

  /// Processes that are killed: a server over a file, and two over a database. `CONCORD_FAULT_ROUNDS`, `CONCORD_FAULT_DEVICES` and
  /// `CONCORD_FAULT_ACTIONS` say how many rounds, devices and actions of each of them, `CONCORD_FAULT_KIND` over which of them.
  @Suite struct FaultTests {
    private static let kind = ProcessInfo.processInfo.environment["CONCORD_FAULT_KIND"].flatMap(Kind.init)

    @Test(
      "Each action has its effect once, and each device shows the server's states, whoever is killed and whatever the network does",
      arguments: Kind.allCases.filter { $0 != .memory && (Self.kind ?? $0) == $0 })
    func rounds(_ kind: Kind) async throws {
      let rounds = TestOptions.number("CONCORD_FAULT_ROUNDS") ?? 1
      for seed in TestOptions.seeds(rounds, from: .random(in: 1...1_000_000)) {
        print("faults: seed \(seed), \(kind)")
        try await FaultRound(
          kind: kind, seed: seed, deviceCount: TestOptions.number("CONCORD_FAULT_DEVICES") ?? 4,
          actions: TestOptions.number("CONCORD_FAULT_ACTIONS") ?? 60
        ).run()
      }
    }
  }
#endif
