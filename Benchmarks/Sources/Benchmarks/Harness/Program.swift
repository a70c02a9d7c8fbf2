import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Other programs that are run.
enum Program {
  /// Runs a command, which is looked for where the shell would, and returns what it printed.
  @discardableResult
  static func run(_ command: String...) throws -> String { try run(command) }

  @discardableResult
  static func run(_ command: [String]) throws -> String {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    try expect(process.terminationStatus == 0, "`\(command.joined(separator: " "))` failed:\n\(text)")
    return text
  }

  /// The nanoseconds that the programs that have ended, and those that they ran, spent on the cores.
  static var processorTime: Double {
    var usage = rusage()
    getrusage(children, &usage)
    return nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime)
  }

  private static func nanoseconds(_ time: timeval) -> Double { Double(time.tv_sec) * 1e9 + Double(time.tv_usec) * 1e3 }

  #if canImport(Darwin)
    private static let children = RUSAGE_CHILDREN
  #else
    private static let children = RUSAGE_CHILDREN.rawValue
  #endif
}
