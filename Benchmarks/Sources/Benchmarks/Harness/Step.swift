/// How slow a machine is, for goals that are times: one *step* is to make an object and put it into a dictionary of 10,000
/// strings. It is measured in each run, so that a goal means the same on a slower machine.
enum Step {
  /// What a step took where the goals were set, the machine of RESULTS.md.
  static let reference = 100.0

  /// What a step takes here, in nanoseconds: the median of 31 times 10,000.
  static func measure(_ stopwatch: Stopwatch) -> Double {
    let keys = (0..<10_000).map { "key number \($0)" }
    var things: [String: Thing] = [:]
    for key in keys { things[key] = Thing(number: 0) }
    var series = Measurement.Series()
    for round in 0..<31 {
      series.append(
        stopwatch.nanoseconds(per: keys.count) {
          for (number, key) in keys.enumerated() { things[key] = Thing(number: number &+ round) }
        })
    }
    blackHole(things.count)
    return series.median ?? reference
  }

  private final class Thing {
    let number: Int

    init(number: Int) { self.number = number }
  }
}
