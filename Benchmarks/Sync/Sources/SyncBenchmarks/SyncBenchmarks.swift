import ArgumentParser
import Foundation

/// The program: measures synchronisation.
@main
struct SyncBenchmarks: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "SyncBenchmarks",
    abstract: "Measures synchronisation: devices and servers over the loopback interface.",
    discussion: """
      As the other benchmark, whose rows need no web server. Rows over PostgreSQL need the address of a database in \
      CONCORD_BENCHMARK_POSTGRESQL. Build with `-c release`.
      """)

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

  @Option(help: ArgumentHelp("Measure one side only (concord, floor), for a profile.", valueName: "side"))
  var only: Runner.Only?

  @Option(help: ArgumentHelp("Measure each row exactly so many times.", valueName: "count"))
  var repetitions: Int?

  func run() throws {
    try Crowd.raiseLimit()
    if try Crowd.beIfAsked() { return }
    let rows = Row.all.filter { row in text.map { row.name.localizedCaseInsensitiveContains($0) } ?? true }
    guard !rows.isEmpty else { throw ValidationError("No row has such a name; --list names them.") }
    if list {
      for row in rows { print("\(row.name)\n    goal: \(row.goal.description(in: row.unit))\n    floor: \(row.floor)") }
      return
    }
    let report = Runner(quick: quick, only: only, repetitions: repetitions).report(on: rows)
    if let json { try report.write(to: json) }
    if report.rows.contains(where: { $0.failure != nil }) { throw ExitCode.failure }
    if strict, report.rows.contains(where: { $0.holds == false }) { throw ExitCode.failure }
  }
}

extension Runner.Only: ExpressibleByArgument {}
