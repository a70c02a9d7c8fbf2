/// What a row is measured in.
enum Unit: String, Codable, Sendable {
  case nanoseconds
  case bytes

  /// A figure with its unit, to three digits: `58.2 ns`, `0.36 µs`, `812 µs`, `1.24 ms`, `168 B`, `38.4 KB`.
  func format(_ value: Double, trimming: Bool = false) -> String {
    switch self {
    case .bytes:
      guard abs(value) >= 10_000 else {
        return value.formatted(places: abs(value) < 100 ? 2 : 0, trimming: trimming) + " B"
      }
      let (scaled, unit) = abs(value) < 1e6 ? (value / 1e3, "KB") : (value / 1e6, "MB")
      return scaled.formatted(places: abs(scaled) < 100 ? 1 : 0, trimming: trimming) + " " + unit
    case .nanoseconds:
      let steps: [(limit: Double, unit: String, scale: Double)] = [
        (100, "ns", 1), (100_000, "µs", 1e3), (1_000_000, "µs", 1e3), (1e9, "ms", 1e6), (.infinity, "s", 1e9),
      ]
      let step = steps.first { abs(value) < $0.limit } ?? steps[0]
      let scaled = value / step.scale
      let places = abs(scaled) < 10 ? 2 : abs(scaled) < 100 ? 1 : 0
      return scaled.formatted(places: places, trimming: trimming) + " " + step.unit
    }
  }
}

extension Double {
  /// The number with so many places after the point, without those that are zero at the end if they are to be trimmed.
  func formatted(places: Int, trimming: Bool = false) -> String {
    guard isFinite else { return description }
    var scale = 1.0
    for _ in 0..<places { scale *= 10 }
    let rounded = Int((magnitude * scale).rounded())
    var fraction = String(rounded % Int(scale))
    fraction =
      String(repeating: "0", count: places - (places == 0 ? 0 : fraction.count)) + (places == 0 ? "" : fraction)
    while trimming, fraction.last == "0" { fraction.removeLast() }
    let whole = (sign == .minus && rounded != 0 ? "-" : "") + String(rounded / Int(scale))
    return fraction.isEmpty ? whole : whole + "." + fraction
  }
}
