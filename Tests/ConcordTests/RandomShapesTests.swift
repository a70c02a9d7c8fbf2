import Foundation
import Testing

/// Stores, changes and removes entities whose relations depend on their values, and compares after each step what is
/// read with what the values themselves say.
///
/// `CONCORD_RANDOM_VARIETY` asks for a single variety.
@Suite("Random shapes", .serialized)
struct RandomShapesTests {
  static let stepsInAWorld = 100

  @Test("An entity reads the same wherever it stands, whatever its relations are", arguments: ShapeVariety.allCases)
  func shapes(variety: ShapeVariety) {
    let only = ProcessInfo.processInfo.environment["CONCORD_RANDOM_VARIETY"]
    guard only == nil || only == variety.rawValue else { return }
    let steps = (TestOptions.steps ?? 70_000) / ShapeVariety.allCases.count
    for seed in TestOptions.seeds(steps / Self.stepsInAWorld) {
      guard run(seed, variety) else { return }
    }
  }

  /// Whether all was well.
  private func run(_ seed: UInt64, _ variety: ShapeVariety) -> Bool {
    var maker = ShapeMaker(seed: seed, variety)
    let steps = (0..<Self.stepsInAWorld).map { _ in maker.step() }
    guard var failure = failure(of: steps, variety, seed) else { return true }
    // Leaves out steps as long as it still fails.
    var size = failure.steps.count / 2
    while size > 0 {
      var start = 0
      while start < failure.steps.count {
        var fewer = failure.steps
        fewer.removeSubrange(start..<min(start + size, fewer.count))
        if let shorter = self.failure(of: fewer, variety, seed) { failure = shorter } else { start += size }
      }
      size /= 2
    }
    Issue.record(
      """
      \(variety), CONCORD_RANDOM_SEED=\(seed): \(failure.reason)
      after these steps, the shortest found:
      \(failure.steps.map { "  \($0)" }.joined(separator: "\n"))
      """)
    return false
  }

  private func failure(
    of steps: [ShapeStep], _ variety: ShapeVariety, _ seed: UInt64
  ) -> (reason: String, steps: [ShapeStep])? {
    let world = ShapeWorld(variety)
    for (index, step) in steps.enumerated() {
      if RandomOperationsTests.isTraced { print(variety, seed, step) }
      do {
        try world.perform(step)
        if index == steps.count - 1 { try world.check() }
      } catch {
        return ("\(error)", Array(steps.prefix(through: index)))
      }
    }
    return nil
  }
}
