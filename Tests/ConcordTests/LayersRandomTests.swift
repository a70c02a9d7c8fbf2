import Concord
import Foundation
import Testing

/// Drives a store with layers and a naive model that keeps base and layers apart with the same random steps, and compares after
/// each what is shown, whom it tells, and what becomes of the layers.
@Suite("Random layers")
struct LayersRandomTests {
  static let stepsInAWorld = 60

  static var seeds: Range<UInt64> {
    TestOptions.seeds((TestOptions.steps ?? (TestOptions.isLong ? 200_000 : 20_000)) / stepsInAWorld)
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
