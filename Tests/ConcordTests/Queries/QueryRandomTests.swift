import Concord
import Foundation
import Testing

/// Compares queries, each with an operator, with a naive computation, while a store is changed at random: also in transactions, some of which
/// throw, by layers, and through entities inside.
@Suite("Random queries")
struct QueryRandomTests {
  static let stepsInAWorld = 60

  static var seeds: Range<UInt64> {
    TestOptions.seeds((TestOptions.steps ?? (TestOptions.isLong ? 100_000 : 1_800)) / stepsInAWorld)
  }

  @Test("Every operator shows and tells what a computation from scratch gives")
  func agreesWithNaive() {
    for seed in Self.seeds {
      let world = QueryWorld(seed: seed)
      for step in 0..<Self.stepsInAWorld {
        world.step()
        guard let failure = world.failure() else { continue }
        Issue.record(
          """
          CONCORD_RANDOM_SEED=\(seed), step \(step): \(failure)
          \(world.log.suffix(20).joined(separator: "\n"))
          """)
        return
      }
      if let failure = world.end() {
        Issue.record("CONCORD_RANDOM_SEED=\(seed), at the end: \(failure)\n\(world.log.joined(separator: "\n"))")
        return
      }
    }
  }
}
