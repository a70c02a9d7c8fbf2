import Concord
import Foundation
import Testing

/// Compares queries, each with an operator, with a naive computation, while a store is changed at random: also in transactions, some of which
/// throw, by layers, and through entities inside.
///
/// `CONCORD_RANDOM_STEPS` says how many steps in all, `CONCORD_RANDOM_FIRST` the seed of the first world, `CONCORD_RANDOM_SEED`
/// replays one world, whose seed is in the message of a failure.
@Suite("Random queries")
struct QueryRandomTests {
  static let stepsInAWorld = 60

  static var seeds: [UInt64] {
    let environment = ProcessInfo.processInfo.environment
    if let seed = environment["CONCORD_RANDOM_SEED"].flatMap(UInt64.init) { return [seed] }
    let steps = environment["CONCORD_RANDOM_STEPS"].flatMap(Int.init) ?? (isLong ? 100_000 : 1_800)
    let first = environment["CONCORD_RANDOM_FIRST"].map { UInt64($0) ?? .random(in: 0..<UInt64(UInt32.max)) } ?? 0
    print("Random queries: first seed \(first)")
    return (0..<UInt64(max(1, steps / stepsInAWorld))).map { first + $0 }
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
