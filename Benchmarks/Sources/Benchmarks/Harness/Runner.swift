/// Measures rows.
struct Runner {
  /// Which sides are measured: both, but for a profile.
  enum Only: String, CaseIterable {
    case concord
    case floor
  }

  var stopwatch = Stopwatch()
  /// Fewer repetitions.
  var quick = false
  var only: Only?
  /// How often exactly, instead of as often as the time allows.
  var repetitions: Int?

  /// Measures a row: both sides in turn, so that what slows the machine down slows down both. Each time a side works twice,
  /// and the second time counts: the first finds the caches full of what the other side left there.
  func measure(_ row: Row) throws -> Measurement {
    let sides = try row.prepare(stopwatch)
    let floor = only == .concord ? nil : sides.floor
    let concord = only == .floor ? nil : sides.concord
    let most = repetitions ?? min(row.repetitions, quick ? 3 : .max)
    let least = min(most, repetitions ?? (quick ? 3 : 5))
    // What is measured in bytes says the same each time, and does its own warm-up; what is measured once has none.
    let warmsUp = row.unit == .nanoseconds && row.repetitions > 1
    var measurement = Measurement()
    let wall = Stopwatch(kind: .wall)
    let end = wall.now + (quick ? 0.1e9 : 1e9)
    for repetition in 0..<most {
      if repetition >= least, repetitions == nil, wall.now > end { break }
      if let floor {
        if warmsUp { _ = try floor() }
        measurement.floor.append(try floor())
      }
      if let concord {
        if warmsUp { _ = try concord() }
        measurement.concord.append(try concord())
      }
    }
    return measurement
  }
}
