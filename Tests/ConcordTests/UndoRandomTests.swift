import Concord
import Foundation
import Testing

/// Drives a store and a naive model with the same random steps, by somebody whose steps can be undone and by others, and compares
/// what is stored, what is undone, and what is left as it is.
///
/// `CONCORD_RANDOM_STEPS` says how many steps in all, `CONCORD_RANDOM_FIRST` the seed of the first world, `CONCORD_RANDOM_SEED`
/// replays one world, whose seed is in the message of a failure.
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

  static var seeds: [UInt64] {
    let environment = ProcessInfo.processInfo.environment
    if let seed = environment["CONCORD_RANDOM_SEED"].flatMap(UInt64.init) { return [seed] }
    let steps = environment["CONCORD_RANDOM_STEPS"].flatMap(Int.init) ?? (isLong ? 200_000 : 8_000)
    let first = environment["CONCORD_RANDOM_FIRST"].map { UInt64($0) ?? .random(in: 0..<UInt64(UInt32.max)) } ?? 0
    print("Random undo: first seed \(first)")
    return (0..<UInt64(max(1, steps / stepsInAWorld))).map { first + $0 }
  }
}
