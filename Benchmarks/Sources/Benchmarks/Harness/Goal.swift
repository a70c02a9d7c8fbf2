/// What a row must reach: a multiple of its floor, a number of steps, or so many bytes.
struct Goal: Sendable {
  var timesFloor: Double?
  /// A time, counted in steps.
  var steps: Double?
  /// A figure that is the same on each machine.
  var atMost: Double?
  /// How the goal reads, where the numbers alone do not say it.
  var text: String?

  /// There is no goal: the row informs.
  static let none = Goal()

  static func floor(times factor: Double) -> Goal { Goal(timesFloor: factor) }

  // Times as they were set on the machine of the README's table; elsewhere they are what a step makes of them.
  static func microseconds(_ limit: Double) -> Goal { Goal(steps: limit * 1e3 / Step.reference) }

  static func milliseconds(_ limit: Double, _ text: String? = nil) -> Goal {
    Goal(steps: limit * 1e6 / Step.reference, text: text)
  }

  static func seconds(_ limit: Double) -> Goal { Goal(steps: limit * 1e9 / Step.reference) }

  static func bytes(_ limit: Double) -> Goal { Goal(atMost: limit) }

  /// Nothing, but for the few blocks that malloc keeps at hand for a thread and counts as given out.
  static let zero = Goal(atMost: 0.05, text: "0")

  /// There is no limit, but the checks of the row itself have to pass.
  static func passing(_ text: String) -> Goal { Goal(atMost: .infinity, text: text) }

  /// Whether a measurement reaches the goal; `nil` where there is none.
  func holds(concord: Double, floor: Double?, step: Double) -> Bool? {
    var answers: [Bool] = []
    if let timesFloor, let floor { answers.append(concord <= timesFloor * floor) }
    if let steps { answers.append(concord <= steps * step) }
    if let atMost { answers.append(concord <= atMost) }
    return answers.isEmpty ? nil : answers.allSatisfy { $0 }
  }

  func description(in unit: Unit) -> String {
    if let text { return text }
    var parts: [String] = []
    if let timesFloor {
      parts.append("≤ \(timesFloor.formatted(places: timesFloor < 10 ? 1 : 0, trimming: true)) × floor")
    }
    if let steps { parts.append("≤ \(Goal.short(steps)) steps") }
    if let atMost { parts.append("≤ \(unit.format(atMost, trimming: true))") }
    return parts.isEmpty ? "–" : parts.joined(separator: ", ")
  }

  /// `2.5`, `200`, `50k`, `20M`.
  private static func short(_ number: Double) -> String {
    let (scaled, unit) = number < 10_000 ? (number, "") : number < 1e7 ? (number / 1e3, "k") : (number / 1e6, "M")
    return scaled.formatted(places: scaled < 10 ? 1 : 0, trimming: true) + unit
  }
}
