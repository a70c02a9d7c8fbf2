import ArgumentParser
import Foundation

/// The options of a program that measures rows.
struct Options: ParsableArguments {
  @Argument(help: "Measure only the rows whose name contains this text.")
  var text: String?

  @Option(help: ArgumentHelp("Write the figures to this file, too.", valueName: "file"))
  var json: String?

  @Flag(help: "List the rows, their goals and what their floors do, and measure nothing.")
  var list = false

  @Flag(help: "Measure each row three times only.")
  var quick = false

  @Flag(help: "Exit with 1 also when a goal is missed; without it only when a result is wrong.")
  var strict = false

  @Option(help: "The clock: wall, or thread, which leaves out what other programs take of the cores.")
  var clock = Stopwatch.Kind.wall

  @Option(help: ArgumentHelp("Measure one side only (concord, floor), for a profile.", valueName: "side"))
  var only: Runner.Only?

  @Option(help: ArgumentHelp("Measure each row exactly so many times.", valueName: "count"))
  var repetitions: Int?

  func validate() throws {
    if let repetitions, repetitions < 1 { throw ValidationError("--repetitions must be at least 1.") }
  }

  /// Measures the rows that are asked for, or lists them.
  ///
  /// - Parameters:
  ///   - all: all rows.
  ///   - use: a closure that gets the report, whether the figures are good or not.
  func run(_ all: [Row], _ use: (Report) throws -> Void = { _ in }) throws {
    let rows = all.filter { row in text.map { row.name.localizedCaseInsensitiveContains($0) } ?? true }
    guard !rows.isEmpty else { throw ValidationError("No row has such a name; --list names them.") }
    if list {
      for row in rows { print("\(row.name)\n    goal: \(row.goal.description(in: row.unit))\n    floor: \(row.floor)") }
      return
    }
    let report = Runner(stopwatch: Stopwatch(kind: clock), quick: quick, only: only, repetitions: repetitions)
      .report(on: rows)
    if let json { try report.write(to: json) }
    try use(report)
    if report.rows.contains(where: { $0.failure != nil }) { throw ExitCode.failure }
    if strict, report.rows.contains(where: { $0.holds == false }) { throw ExitCode.failure }
  }
}

extension Stopwatch.Kind: ExpressibleByArgument {}
extension Runner.Only: ExpressibleByArgument {}
