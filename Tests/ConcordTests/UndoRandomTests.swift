import Concord
import Foundation
import Testing

/// Drives a store and a naive model with the same random steps, by somebody whose steps can be undone and by others, and compares
/// what is stored, what is undone, and what is left as it is.
@Suite("Random undo")
struct UndoRandomTests {
  static let stepsInAWorld = 60

  @Test("Whatever others do, a step is undone and redone as in the model")
  func agreesWithModel() {
    for seed in Self.seeds {
      let world = UndoWorld(seed: seed)
      for step in 0..<Self.stepsInAWorld {
        world.step()
        guard let failure = world.failure() else { continue }
        Issue.record("CONCORD_RANDOM_SEED=\(seed), step \(step): \(failure)\n\(world.log.joined(separator: "\n"))")
        return
      }
    }
  }

  static var seeds: Range<UInt64> {
    TestOptions.seeds((TestOptions.steps ?? (TestOptions.isLong ? 200_000 : 8_000)) / stepsInAWorld)
  }
}
