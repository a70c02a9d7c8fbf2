/// Events per second, over the last two seconds.
struct RateMeter: Sendable {
  private var samples: [(time: ContinuousClock.Instant, count: Int)] = []
  private let span: Duration = .seconds(2)

  mutating func note(_ count: Int, at now: ContinuousClock.Instant) {
    // A few samples a second are enough.
    if let last = samples.last, now - last.time < .milliseconds(100) { return }
    samples.append((now, count))
    while samples.count > 2, now - samples[1].time > span { samples.removeFirst() }
  }

  var perSecond: Double {
    guard let first = samples.first, let last = samples.last, last.time > first.time else { return 0 }
    return Double(last.count - first.count) / ((last.time - first.time) / .seconds(1))
  }
}
