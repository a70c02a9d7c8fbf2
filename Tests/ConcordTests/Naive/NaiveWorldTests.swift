import Testing

/// Runs random programs of few entities, with stamps, aliases, nested transactions and layers, beside a model that was written from
/// the documentation alone. A program that fails is made shorter, and printed.
@Suite("Random programs beside a naive model")
struct NaiveWorldTests {
  @Test("Base, layers, aliases and stamps are as documented after each step", arguments: [true, false])
  func agrees(isHeld: Bool) {
    let steps = TestOptions.steps ?? (TestOptions.isLong ? 200_000 : 2_500)
    let count = 25
    for seed in TestOptions.seeds(steps / count) {
      var generator = NaiveGenerator(seed: seed, isHeld: isHeld)
      let program = generator.program(count)
      guard let failure = NaiveWorld(generator).run(program) else { continue }
      let shortest = Self.shorten(Array(program[...failure.step])) { NaiveWorld(generator).run($0) != nil }
      let problem = NaiveWorld(generator).run(shortest)?.problem ?? failure.problem
      Issue.record(
        """
        CONCORD_RANDOM_SEED=\(seed), held: \(isHeld), clock: \(generator.hasClock): \(problem)
        \(shortest.map(\.description).joined(separator: "\n"))
        """)
      return
    }
  }

  /// Leaves out steps for as long as the program still fails.
  private static func shorten(_ program: [NaiveStep], _ fails: ([NaiveStep]) -> Bool) -> [NaiveStep] {
    var program = program
    var isShorter = true
    while isShorter {
      isShorter = false
      for index in program.indices.reversed() {
        for shorter in variants(of: program[index]) {
          var candidate = program
          candidate.replaceSubrange(index...index, with: shorter)
          if fails(candidate) {
            (program, isShorter) = (candidate, true)
            break
          }
        }
      }
    }
    return program
  }

  /// Shorter steps that may take the place of one, the shortest first.
  private static func variants(of step: NaiveStep) -> [[NaiveStep]] {
    var found: [[NaiveStep]] = [[]]
    switch step {
    case .transaction(let steps, let isThrowing):
      if !isThrowing { found.append(steps) }
      for index in steps.indices {
        for shorter in variants(of: steps[index]) {
          var inner = steps
          inner.replaceSubrange(index...index, with: shorter)
          found.append([.transaction(inner, isThrowing: isThrowing)])
        }
      }
    case .layer(let number, let edits) where edits.count > 1:
      for index in edits.indices {
        var fewer = edits
        fewer.remove(at: index)
        found.append([.layer(number: number, fewer)])
      }
    default: break
    }
    return found
  }
}
