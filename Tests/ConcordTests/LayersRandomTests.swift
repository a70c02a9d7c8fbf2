import Concord
import Foundation
import Testing

/// Drives a store with layers and a naive model that keeps base and layers apart with the same random steps, and compares after
/// each what is shown, whom it tells, and what becomes of the layers.
///
/// `CONCORD_RANDOM_STEPS` says how many steps in all, `CONCORD_RANDOM_FIRST` the seed of the first world, `CONCORD_RANDOM_SEED`
/// replays one world, whose seed is in the message of a failure.
@Suite("Random layers")
struct LayersRandomTests {
  static let stepsInAWorld = 60

  static var seeds: [UInt64] {
    let environment = ProcessInfo.processInfo.environment
    if let seed = environment["CONCORD_RANDOM_SEED"].flatMap(UInt64.init) { return [seed] }
    let steps = environment["CONCORD_RANDOM_STEPS"].flatMap(Int.init) ?? (isLong ? 200_000 : 20_000)
    let first = environment["CONCORD_RANDOM_FIRST"].map { UInt64($0) ?? .random(in: 0..<UInt64(UInt32.max)) } ?? 0
    print("Random layers: first seed \(first)")
    return (0..<UInt64(max(1, steps / stepsInAWorld))).map { first + $0 }
  }

  @Test("The store shows the base with the layers above, whatever becomes of both")
  func agreesWithModel() {
    for seed in Self.seeds {
      let world = LayersWorld(seed: seed)
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
    }
  }

  @Test("What layers kept is released with them, and nothing is left of what they did")
  func leavesNothing() {
    for seed in Self.seeds {
      let world = LayersWeakWorld(seed: seed)
      for step in 0..<Self.stepsInAWorld {
        if let failure = world.step() {
          Issue.record("CONCORD_RANDOM_SEED=\(seed), step \(step): \(failure)\n\(world.log.joined(separator: "\n"))")
          return
        }
      }
      if let failure = world.end() {
        Issue.record("CONCORD_RANDOM_SEED=\(seed), at the end: \(failure)\n\(world.log.joined(separator: "\n"))")
        return
      }
    }
  }
}
