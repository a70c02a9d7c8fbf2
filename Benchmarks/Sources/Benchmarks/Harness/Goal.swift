/// What a row must reach: a multiple of its floor, a time, or so many bytes.
struct Goal: Sendable {
  var timesFloor: Double?
  /// Nanoseconds, on the machine of RESULTS.md or a faster one. A slower one has as much more as its step is longer.
  var time: Double?
  /// A part of what another system took where a step took ``Step/reference``, in nanoseconds. On a faster machine that system would have
  /// been faster, too, so that this is scaled both ways.
  var partOfEarlier: Double?
  /// A figure that is the same on each machine.
  var atMost: Double?
  /// How the goal reads, where the numbers alone do not say it.
  var text: String?

  /// There is no goal: the row informs.
  static let none = Goal()

  static func floor(times factor: Double) -> Goal { Goal(timesFloor: factor) }

  static func microseconds(_ limit: Double) -> Goal { Goal(time: limit * 1e3) }

  static func milliseconds(_ limit: Double) -> Goal { Goal(time: limit * 1e6) }

  /// A part of what another system took.
  static func part(_ divisor: Int, of system: String, milliseconds: Int) -> Goal {
    Goal(
      partOfEarlier: Double(milliseconds) * 1e6 / Double(divisor),
      text: "≤ 1/\(divisor) of \(system)'s \(milliseconds) ms")
  }

  static func seconds(_ limit: Double) -> Goal { Goal(time: limit * 1e9) }

  static func bytes(_ limit: Double) -> Goal { Goal(atMost: limit) }

  /// Nothing, but for the few blocks that malloc keeps at hand for a thread and counts as given out.
  static let zero = Goal(atMost: 0.05, text: "0")

  /// There is no limit, but the checks of the row itself have to pass.
  static func passing(_ text: String) -> Goal { Goal(atMost: .infinity, text: text) }

  /// Whether a measurement reaches the goal; `nil` where there is none.
  func holds(concord: Double, floor: Double?, step: Double) -> Bool? {
    var answers: [Bool] = []
    if let timesFloor, let floor { answers.append(concord <= timesFloor * floor) }
    if let time { answers.append(concord <= time * max(1, step / Step.reference)) }
    if let partOfEarlier { answers.append(concord <= partOfEarlier * step / Step.reference) }
    if let atMost { answers.append(concord <= atMost) }
    return answers.isEmpty ? nil : answers.allSatisfy { $0 }
  }

  func description(in unit: Unit) -> String {
    if let text { return text }
    var parts: [String] = []
    if let timesFloor {
      parts.append("≤ \(timesFloor.formatted(places: timesFloor < 10 ? 2 : 0, trimming: true)) × floor")
    }
    if let time { parts.append("≤ \(unit.format(time, trimming: true))") }
    if let atMost { parts.append("≤ \(unit.format(atMost, trimming: true))") }
    return parts.isEmpty ? "–" : parts.joined(separator: ", ")
  }
}
