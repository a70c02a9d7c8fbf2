import ArgumentParser

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

  @OptionGroup var options: Options

  func run() throws {
    try Crowd.raiseLimit()
    // A crowd has the environment of the server that has started it.
    if try Crowd.beIfAsked() { return }
    if try CrowdRun.beIfAsked() { return }
    try options.run(Row.all)
  }
}
