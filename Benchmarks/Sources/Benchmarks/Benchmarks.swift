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

  @OptionGroup var options: Options

  @Option(
    help: ArgumentHelp("Draw ten of the rows into chart-light.svg and chart-dark.svg there.", valueName: "folder"))
  var chart: String?

  @Option(
    help: ArgumentHelp("Measure nothing, and take the figures that --json wrote to this file.", valueName: "file"))
  var from: String?

  @Option(
    help: ArgumentHelp(
      "Measure also the code and the compile time of programs that use the Concord in this folder.", valueName: "folder"
    )
  )
  var clients: String?

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
      filter.map { row.name.localizedCaseInsensitiveContains($0) } ?? true
    }
    try options.run(rows, draw)
  }

  private func draw(_ report: Report) throws {
    if let chart { try Chart(report).write(to: URL(fileURLWithPath: chart)) }
  }
}
