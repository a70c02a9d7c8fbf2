import ConcordTestShared
import Foundation
import Testing

@testable import ConcordConnect

/// Saves, batches, purges, undoes, forwards and sends at random, in one connect or in two over one store, and compares after each step what
/// is searched, queried, grouped and aggregated with all entities, asked one by one.
@Suite("Random looking")
struct LookingRandomTests {
  private static let stepsInAWorld = 40

  @Test("What is derived agrees with what is shown and stored, whatever happens", arguments: StoreKind.allCases)
  func agreesWithEntities(_ kind: StoreKind) async throws {
    // A step here takes as long as many of the store's.
    let steps = kind.share(of: TestOptions.steps.map { $0 / 5 } ?? (TestOptions.isLong ? 8_000 : 400))
    for seed in TestOptions.seeds(steps / Self.stepsInAWorld, from: .random(in: 0..<1_000_000)) {
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
