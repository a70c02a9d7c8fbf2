/// One line of the table: a piece of work, done by Concord and by plain Swift.
struct Row {
  let name: String
  let unit: Unit
  let goal: Goal
  /// What it took before the store was rebuilt, on the machine of RESULTS.md.
  let was: String?
  /// What an earlier system needed, as measured for the design, on its machine.
  let earlier: Earlier?
  /// What the floor does, in words.
  let floor: String
  /// How often each side is measured at most.
  let repetitions: Int
  /// Makes what both sides need, once, untimed.
  let prepare: (Stopwatch) throws -> Sides

  init(
    _ name: String, unit: Unit = .nanoseconds, goal: Goal, was: String? = nil, earlier: Earlier? = nil, floor: String,
    repetitions: Int = 31, prepare: @escaping (Stopwatch) throws -> Sides
  ) {
    self.name = name
    self.unit = unit
    self.goal = goal
    self.was = was
    self.earlier = earlier
    self.floor = floor
    self.repetitions = repetitions
    self.prepare = prepare
  }
}

/// The two sides of a row. Each call does the work once, checks its result and returns what one piece of it took.
struct Sides {
  let concord: () throws -> Double
  var floor: (() throws -> Double)?
}
