import Foundation

/// Spreads events evenly over time.
struct Pace: Sendable {
  private let interval: Duration
  private var due = ContinuousClock.now

  /// `rate` is in events per second, and more than 0.
  init(rate: Double) { interval = .seconds(1 / rate) }

  /// Waits until the next event is due. Somebody who fell more than a second behind does not hurry to make up for it.
  mutating func wait() {
    let now = ContinuousClock.now
    due = max(due + interval, now - .seconds(1))
    let seconds = (due - now) / .seconds(1)
    if seconds > 0 { Thread.sleep(forTimeInterval: seconds) }
  }
}
