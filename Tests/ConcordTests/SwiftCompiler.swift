#if os(Linux) || os(macOS)
  import Foundation
  import Testing

  /// `swiftc`, with the module the tests were built with.
  enum SwiftCompiler {
    static let modules: URL? = {
      let executable = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
      let candidates = sequence(first: executable, next: { $0.path == "/" ? nil : $0.deletingLastPathComponent() })
      return candidates.prefix(8).map { $0.appendingPathComponent("Modules") }.first { folder in
        FileManager.default.fileExists(atPath: folder.appendingPathComponent("Concord.swiftmodule").path)
      }
    }()

    /// Compiles a file that imports Concord until all diagnostics are made: some races are found after type-checking.
    static func check(_ source: String, _ flags: [String] = ["-swift-version", "6"]) throws -> (
      status: Int32, message: String
    ) {
      let modules = try #require(Self.modules)
      let file = FileManager.default.temporaryDirectory.appendingPathComponent("Shelf-\(UUID().uuidString).swift")
      try "import Concord\n\(source)\n".write(to: file, atomically: true, encoding: .utf8)
      // Not /dev/null, which the compiler would make read-only for others.
      let output = file.appendingPathExtension("sil")
      defer { for file in [file, output] { try? FileManager.default.removeItem(at: file) } }
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments =
        ["swiftc", "-emit-sil", "-o", output.path, "-parse-as-library", "-I", modules.path, file.path] + flags
      let pipe = Pipe()
      process.standardOutput = pipe
      process.standardError = pipe
      try process.run()
      let said = pipe.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      return (process.terminationStatus, String(decoding: said, as: UTF8.self))
    }
  }
#endif
