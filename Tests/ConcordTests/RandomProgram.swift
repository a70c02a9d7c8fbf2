/// The steps of one world, and how it is told what is wrong with few of them.
struct RandomProgram {
  struct Failure: Error, CustomStringConvertible {
    var reason: String
    var operations: [Operation]

    var description: String {
      """
      \(reason)
      after these steps, the shortest found:
      \(operations.map { "  \($0)" }.joined(separator: "\n"))
      """
    }
  }

  var setting: RandomOperationsTests.Setting
  var operations: [Operation] = []

  /// Makes up the steps of a world while it does them.
  static func run(seed: UInt64, _ setting: RandomOperationsTests.Setting) -> Failure? {
    var generator = OperationGenerator(seed: seed, makesCycles: setting.makesCycles)
    var program = RandomProgram(setting: setting)
    let world = setting.makeWorld()
    do {
      for _ in 0..<RandomOperationsTests.stepsInAWorld {
        let operation = generator.next(world.model)
        if RandomOperationsTests.isTraced { print(seed, operation) }
        program.operations.append(operation)
        try world.perform(operation)
      }
      try world.finish()
      return nil
    } catch {
      return program.shortened(because: "\(error)")
    }
  }

  /// Does them again; `nil` if nothing is wrong.
  func replay() -> Failure? {
    let world = setting.makeWorld()
    var done: [Operation] = []
    do {
      for operation in operations {
        done.append(operation)
        try world.perform(operation)
      }
      try world.finish()
      return nil
    } catch {
      return Failure(reason: "\(error)", operations: done)
    }
  }

  /// Leaves out steps as long as it still fails, first many at once, then single ones; then makes each step smaller.
  func shortened(because reason: String) -> Failure {
    var best = Failure(reason: reason, operations: operations)
    func isWorse(_ operations: [Operation]) -> Bool {
      guard let failure = RandomProgram(setting: setting, operations: operations).replay() else { return false }
      best = failure
      return true
    }
    var size = best.operations.count / 2
    while size > 0 {
      var start = 0
      while start < best.operations.count {
        var fewer = best.operations
        fewer.removeSubrange(start..<min(start + size, fewer.count))
        if !isWorse(fewer) { start += size }
      }
      size /= 2
    }
    var attempts = 0
    var index = 0
    while index < best.operations.count {
      var isSmaller = false
      for operation in best.operations[index].simpler where attempts < 2_000 {
        attempts += 1
        var simpler = best.operations
        simpler[index] = operation
        isSmaller = isWorse(simpler)
        if isSmaller { break }
      }
      if !isSmaller { index += 1 }
    }
    return best
  }
}
