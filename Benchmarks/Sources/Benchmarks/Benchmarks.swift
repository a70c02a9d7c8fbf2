import ArgumentParser
import Foundation

/// The program: measures what it is asked for and prints it.
@main
struct Benchmarks: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "Benchmarks",
    abstract: "Measures Concord beside the same work in plain Swift.",
    discussion: """
      Every row does one piece of work twice: with Concord, and as the floor, which is the same work on a plain \
      Dictionary, a plain array, a plain closure. Both are measured in turn in the same run, after a warm-up, and each \
      measurement checks that the work had its result. The figures are medians. Build with `-c release`; what a \
      floor does is told by --list.
      """)

  @Option(help: ArgumentHelp("Measure only the rows whose name contains this text.", valueName: "text"))
  var filter: String?

  @Argument(help: "The same as --filter, in short.")
  var text: String?

  @Option(help: ArgumentHelp("Write the figures to this file, too.", valueName: "file"))
  var json: String?

  @Option(
    help: ArgumentHelp("Draw ten of the rows into chart-light.svg and chart-dark.svg there.", valueName: "folder"))
  var chart: String?

  @Option(
    help: ArgumentHelp("Measure nothing, and take the figures that --json wrote to this file.", valueName: "file"))
  var from: String?

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

  @Option(
    help: ArgumentHelp(
      "Measure also the code and the compile time of programs that use the Concord in this folder.", valueName: "folder"
    )
  )
  var clients: String?

  func validate() throws {
    if let repetitions, repetitions < 1 { throw ValidationError("--repetitions must be at least 1.") }
  }

  func run() throws {
    #if PostgreSQL
      if try DatabaseClient.serveIfAsked() { return }
    #endif
    if let from {
      try draw(Report(readFrom: from))
      return
    }
    let clientRows = clients.map { Row.clients(of: URL(fileURLWithPath: $0)) } ?? []
    let rows = (Row.all + clientRows).filter { row in
      [filter, text].allSatisfy { $0.map { row.name.localizedCaseInsensitiveContains($0) } ?? true }
    }
    guard !rows.isEmpty else { throw ValidationError("No row has such a name; --list names them.") }
    if list {
      for row in rows { print("\(row.name)\n    goal: \(row.goal.description(in: row.unit))\n    floor: \(row.floor)") }
      return
    }
    let report = Runner(stopwatch: Stopwatch(kind: clock), quick: quick, only: only, repetitions: repetitions)
      .report(on: rows)
    if let json { try report.write(to: json) }
    try draw(report)
    if report.rows.contains(where: { $0.failure != nil }) { throw ExitCode.failure }
    if strict, report.rows.contains(where: { $0.holds == false }) { throw ExitCode.failure }
  }

  private func draw(_ report: Report) throws {
    if let chart { try Chart(report).write(to: URL(fileURLWithPath: chart)) }
  }
}

extension Stopwatch.Kind: ExpressibleByArgument {}
extension Runner.Only: ExpressibleByArgument {}
