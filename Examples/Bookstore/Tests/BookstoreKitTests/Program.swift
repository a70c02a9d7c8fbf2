import Foundation

/// The program itself, started as a person would start it.
struct Program {
  struct Ending {
    let status: Int32
    let output: String
    let errors: String
  }

  /// Runs it to its end. The shop is in memory, unless the arguments say otherwise.
  static func run(
    _ arguments: [String], input: String = "", environment: [String: String] = [:]
  ) throws -> Ending {
    let isKept = arguments.contains("--store") || !environment.isEmpty
    // Files, because a pipe that nobody reads yet would hold the program up.
    return try withFolder { folder in
      let files = ["in", "out", "err"].map { folder.appendingPathComponent($0) }
      for file in files { try Data(input.utf8).write(to: file) }
      let process = Process()
      process.executableURL = executable
      process.arguments = arguments + (isKept ? [] : ["--store", "memory"])
      process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
      process.standardInput = try FileHandle(forReadingFrom: files[0])
      for (file, keyPath) in zip(files[1...], [\Process.standardOutput, \Process.standardError]) {
        try Data().write(to: file)
        process[keyPath: keyPath] = try FileHandle(forWritingTo: file)
      }
      try process.run()
      process.waitUntilExit()
      return Ending(
        status: process.terminationStatus,
        output: String(decoding: try Data(contentsOf: files[1]), as: UTF8.self),
        errors: String(decoding: try Data(contentsOf: files[2]), as: UTF8.self))
    }
  }

  static var executable: URL {
    #if os(macOS)
      let tests = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") } ?? .main
      return tests.bundleURL.deletingLastPathComponent().appendingPathComponent("bookstore")
    #else
      return Bundle.main.bundleURL.appendingPathComponent("bookstore")
    #endif
  }
}

/// A folder of its own, which goes at the end of the body.
func withFolder<R>(_ body: (URL) throws -> R) throws -> R {
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent("bookstore-\(UUID())")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  return try body(folder)
}
