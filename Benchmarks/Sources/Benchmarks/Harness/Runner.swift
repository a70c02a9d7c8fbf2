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

  /// Measures a row: a warm-up of each side, then both in turn, so that what slows the machine down slows down both.
  func measure(_ row: Row) throws -> Measurement {
    let sides = try row.prepare(stopwatch)
    let floor = only == .concord ? nil : sides.floor
    let concord = only == .floor ? nil : sides.concord
    let most = repetitions ?? min(row.repetitions, quick ? 3 : .max)
    let least = min(most, repetitions ?? (quick ? 3 : 5))
    // A row that is measured once says the same each time, as the heap does; it does its warm-up itself.
    if most > 1 {
      _ = try floor?()
      _ = try concord?()
    }
    var measurement = Measurement()
    let wall = Stopwatch(kind: .wall)
    let end = wall.now + (quick ? 0.1e9 : 0.8e9)
    for repetition in 0..<most {
      if repetition >= least, repetitions == nil, wall.now > end { break }
      if let floor { measurement.floor.append(try floor()) }
      if let concord { measurement.concord.append(try concord()) }
    }
    return measurement
  }
}
