/// One of the screens. It follows the shop, and knows nothing of the others.
@MainActor
protocol Screen: AnyObject {
  var name: String { get }
  /// What is on the screen now, for comparison.
  var shown: Shown { get }
  var isPaused: Bool { get }
  func pause()
  func resume()
  func lines(width: Int, height: Int, now: ContinuousClock.Instant) -> [Line]
}
