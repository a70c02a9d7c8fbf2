import Foundation

/// Everything a run found out, as it is written with `--json`.
struct Report: Codable {
  /// Where and how the run took place.
  struct Machine: Codable {
    var system: String
    var architecture: String
    var processor: String?
    var cores: Int
    var clock: String
    /// What goals that are times are counted in, in nanoseconds.
    var step: Double
  }

  /// A row with its figures, in the row's unit.
  struct Line: Codable {
    var name: String
    var unit: Unit
    var concord: Double?
    var concordLeast: Double?
    /// What nine of ten repetitions did not exceed.
    var concordPercentile90: Double?
    var floor: Double?
    var floorLeast: Double?
    var floorPercentile90: Double?
    var ratio: Double?
    var goal: String
    var holds: Bool?
    var was: String?
    var earlier: Earlier?
    var floorIs: String
    var repetitions: Int
    /// Why the row could not be measured.
    var failure: String?
  }

  var date: Date
  var machine: Machine
  var rows: [Line] = []

  init(date: Date, machine: Machine) { (self.date, self.machine) = (date, machine) }

  /// Reads what ``write(to:)`` wrote.
  init(readFrom path: String) throws {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    self = try decoder.decode(Report.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
  }

  func write(to path: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .iso8601
    var data = try encoder.encode(self)
    data.append(contentsOf: "\n".utf8)
    try data.write(to: URL(fileURLWithPath: path))
  }
}

extension Report.Line {
  init(_ row: Row, _ measurement: Measurement, step: Double) {
    let concord = measurement.concord.median
    let floor = measurement.floor.median
    self.init(
      name: row.name, unit: row.unit, concord: concord, concordLeast: measurement.concord.least,
      concordPercentile90: measurement.concord.percentile(90), floor: floor, floorLeast: measurement.floor.least,
      floorPercentile90: measurement.floor.percentile(90), goal: row.goal.description(in: row.unit), was: row.was,
      earlier: row.earlier, floorIs: row.floor, repetitions: measurement.concord.figures.count)
    if let concord {
      if let floor, floor > 0 { ratio = concord / floor }
      // A multiple of a floor that was not measured cannot be judged.
      if row.goal.timesFloor == nil || floor != nil {
        holds = row.goal.holds(concord: concord, floor: floor, step: step)
      }
    }
  }

  init(_ row: Row, failure: any Error) {
    self.init(
      name: row.name, unit: row.unit, goal: row.goal.description(in: row.unit), holds: false, was: row.was,
      earlier: row.earlier, floorIs: row.floor, repetitions: 0, failure: String(describing: failure))
  }
}

extension Report.Machine {
  /// The machine the program runs on.
  static func current(clock: Stopwatch.Kind) -> Self {
    #if arch(arm64)
      let architecture = "arm64"
    #elseif arch(x86_64)
      let architecture = "x86_64"
    #else
      let architecture = "other"
    #endif
    let information = ProcessInfo.processInfo
    return Self(
      system: information.operatingSystemVersionString, architecture: architecture, processor: processor,
      cores: information.activeProcessorCount, clock: clock.rawValue,
      step: Step.measure(Stopwatch(kind: clock)))
  }

  /// The processor's name where the system tells it in a file.
  private static var processor: String? {
    guard let text = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8) else { return nil }
    let line = text.split(separator: "\n").first { $0.hasPrefix("model name") }
    guard let line, let colon = line.firstIndex(of: ":") else { return nil }
    return line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
  }
}
