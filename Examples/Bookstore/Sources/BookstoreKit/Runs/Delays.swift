/// How long events took from their arrival to the screen: the newest few thousand of them.
struct Delays: Sendable {
  private var newest: [Duration] = []
  private var place = 0
  private let capacity = 4096

  var isEmpty: Bool { newest.isEmpty }

  mutating func note(_ delay: Duration) {
    if newest.count < capacity {
      newest.append(delay)
    } else {
      newest[place] = delay
      place = (place + 1) % capacity
    }
  }

  /// The delay that `share` (0 to 1) of the events did not exceed (nearest rank).
  func percentile(_ share: Double) -> Duration? {
    guard !newest.isEmpty else { return nil }
    let rank = Int((share * Double(newest.count)).rounded(.up))
    return newest.sorted()[min(max(rank, 1), newest.count) - 1]
  }

  var summary: String {
    "event to screen p50 \(Self.text(percentile(0.5))), p99 \(Self.text(percentile(0.99)))"
  }

  static func text(_ delay: Duration?) -> String {
    guard let delay else { return "-" }
    let hundredths = Int((delay / .milliseconds(1) * 100).rounded())
    return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100) ms"
  }
}
