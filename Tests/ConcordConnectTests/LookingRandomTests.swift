import ConcordTestShared
import Foundation
import Testing

@testable import ConcordConnect

/// Saves, batches, purges, undoes, forwards and sends at random, in one connect or in two over one store, and compares after each step what
/// is searched, queried, grouped and aggregated with all entities, asked one by one.
///
/// `CONCORD_RANDOM_STEPS` says how many steps in all, `CONCORD_RANDOM_FIRST` the seed of the first world, `CONCORD_RANDOM_SEED` replays
/// one world, whose seed is in the message of a failure.
@Suite("Random looking")
struct LookingRandomTests {
  private static let stepsInAWorld = 40

  @Test("What is derived agrees with what is shown and stored, whatever happens", arguments: StoreKind.allCases)
  func agreesWithEntities(_ kind: StoreKind) async throws {
    let environment = ProcessInfo.processInfo.environment
    func number(_ name: String) -> UInt64? { environment[name].flatMap(UInt64.init) }
    let isLong = environment["CONCORD_LONG"] == "1"
    let steps = kind.share(of: Int(number("CONCORD_RANDOM_STEPS") ?? (isLong ? 8_000 : 400)))
    let first = number("CONCORD_RANDOM_SEED") ?? number("CONCORD_RANDOM_FIRST") ?? .random(in: 0..<1_000_000)
    print("Random looking, \(kind): first seed \(first)")
    let worlds = number("CONCORD_RANDOM_SEED") == nil ? UInt64(max(1, steps / Self.stepsInAWorld)) : 1
    for seed in first..<first + worlds {
      if let failure = try await run(kind, seed) {
        Issue.record("CONCORD_RANDOM_SEED=\(seed), \(kind): \(failure)")
        return
      }
    }
  }

  private func run(_ kind: StoreKind, _ seed: UInt64) async throws -> String? {
    var random = SeededNumbers(seed: seed)
    return try await withFolder { folder in
      try await withOutbox(kind, in: folder) { first in
        // A store in memory is of one connect.
        if kind == .memory || Bool.random(using: &random) { return try await run([first], random) }
        return try await withOutbox(kind, in: folder) { try await run([first, $0], random) }
      }
    }
  }

  private func run(_ connects: [TestConnect], _ random: SeededNumbers) async throws -> String? {
    var world = try LookingWorld(connects, random)
    for step in 0..<Self.stepsInAWorld {
      await world.step()
      if let failure = try await world.failure() {
        return "step \(step): \(failure)\n\(world.log.joined(separator: "\n"))"
      }
    }
    return nil
  }
}
