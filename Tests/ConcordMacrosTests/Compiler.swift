#if Macros && (os(Linux) || os(macOS))
  import Foundation

  /// The compiler, as a user of the macros meets it: it has the modules and the plugin of this very build.
  struct Compiler {
    struct Failure: Error { let reason: String }

    /// What the compiler said: `warning: …` and `error: …`, each once, in order.
    struct Report {
      let messages: [String]
      let output: String

      /// What was said at a place, as `5:7`.
      func messages(at place: String) -> [String] {
        output.split(separator: "\n").compactMap { line in
          line.firstRange(of: "Shop.swift:\(place): ").map { String(line[$0.upperBound...]) }
        }
      }

      var errors: [String] { messages.filter { $0.hasPrefix("error: ") } }

      func says(_ words: String) -> Bool { messages.contains { $0.contains(words) } }
    }

    private let products: URL

    init() throws {
      #if os(macOS)
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
      #else
        let bundle = Bundle.main.executableURL
      #endif
      guard let bundle else { throw Failure(reason: "cannot find the folder of the build") }
      products = bundle.resolvingSymlinksInPath().deletingLastPathComponent()
    }

    /// Type-checks a file that imports `ConcordMacros`, or another module.
    func check(
      _ source: String, importing module: String = "ConcordMacros", flags: [String] = ["-swift-version", "6"]
    ) throws -> Report {
      let folder = FileManager.default.temporaryDirectory.appending(path: "ConcordMacros-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let file = folder.appending(path: "Shop.swift")
      try "import \(module)\n\(source)\n".write(to: file, atomically: true, encoding: .utf8)

      let plugin = try first(of: ["ConcordMacrosPlugin-tool", "ConcordMacrosPlugin"])
      let modules = try first(of: ["Modules-tool", "Modules"])
      let output = try run(
        [
          "-typecheck", "-parse-as-library", "-module-name", "Shop", "-I", modules.path,
          "-load-plugin-executable", "\(plugin.path)#ConcordMacrosPlugin", file.path,
        ] + flags)
      var messages: [String] = []
      for line in output.split(separator: "\n") {
        guard let start = line.firstRange(of: #/: (warning|error): /#)?.lowerBound else { continue }
        let message = String(line[start...].dropFirst(2))
        if !messages.contains(message) { messages.append(message) }
      }
      return Report(messages: messages, output: output)
    }

    private func first(of names: [String]) throws -> URL {
      let found = names.map { products.appending(path: $0) }.first { FileManager.default.fileExists(atPath: $0.path) }
      guard let found else { throw Failure(reason: "none of \(names) is in \(products.path)") }
      return found
    }

    private func run(_ arguments: [String]) throws -> String {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = ["swiftc"] + arguments
      let pipe = Pipe()
      process.standardOutput = pipe
      process.standardError = pipe
      try process.run()
      let output = pipe.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      return String(decoding: output, as: UTF8.self)
    }
  }
#endif
