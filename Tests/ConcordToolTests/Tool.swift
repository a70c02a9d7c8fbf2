#if Tool
  import Foundation
  import Testing

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// What a run of the tool left behind.
  struct ToolResult {
    let status: Int32
    let output: String
    let error: String
    var lines: [String] { output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init) }
  }

  /// The tool, as a process of its own.
  enum Tool {
    static var url: URL {
      URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "concord")
    }

    static func run(
      _ arguments: String..., input: String? = nil, environment: [String: String] = [:]
    ) throws -> ToolResult {
      try run(url, arguments, input: input.map { Data($0.utf8) }, environment: environment)
    }

    static func run(_ arguments: [String], input: Data? = nil) throws -> ToolResult {
      try run(url, arguments, input: input, environment: [:])
    }

    /// Runs `concord …` in a shell, as a script does.
    static func shell(_ script: String) throws -> ToolResult {
      let prefix = "concord() { '\(url.path)' \"$@\"; }\n"
      return try run(URL(fileURLWithPath: "/bin/bash"), ["-c", prefix + script], input: nil, environment: [:])
    }

    private static func run(
      _ program: URL, _ arguments: [String], input: Data?, environment: [String: String]
    ) throws -> ToolResult {
      try withFolder { folder in
        // Files, not pipes: nothing that is printed can fill them up.
        let names = ["in", "out", "err"].map { folder.appending(path: $0) }
        for name in names { try Data().write(to: name) }
        try input?.write(to: names[0])
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = try FileHandle(forReadingFrom: names[0])
        process.standardOutput = try FileHandle(forWritingTo: names[1])
        process.standardError = try FileHandle(forWritingTo: names[2])
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationReason == .exit)
        return ToolResult(
          status: process.terminationStatus, output: String(decoding: try Data(contentsOf: names[1]), as: UTF8.self),
          error: String(decoding: try Data(contentsOf: names[2]), as: UTF8.self))
      }
    }

    /// Runs it where its output and its errors go to a terminal, and returns what that received.
    static func onTerminal(
      _ arguments: String..., width: UInt16 = 60, environment: [String: String] = [:]
    ) throws -> String {
      let (master, terminal) = try openTerminal()
      var size = winsize(ws_row: 24, ws_col: width, ws_xpixel: 0, ws_ypixel: 0)
      _ = ioctl(terminal, UInt(TIOCSWINSZ), &size)
      let process = Process()
      process.executableURL = url
      process.arguments = arguments
      process.environment = ProcessInfo.processInfo.environment.merging(
        ["TERM": "xterm", "NO_COLOR": ""].merging(environment) { $1 }
      ) { $1 }
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = FileHandle(fileDescriptor: terminal)
      process.standardError = FileHandle(fileDescriptor: terminal)
      try process.run()
      close(terminal)
      var received: [UInt8] = []
      var piece = [UInt8](repeating: 0, count: 4096)
      // Reading fails when the process, which has the other end, is gone.
      while case let count = read(master, &piece, piece.count), count > 0 { received += piece[..<count] }
      process.waitUntilExit()
      close(master)
      return String(decoding: received, as: UTF8.self).replacing("\r\n", with: "\n")
    }

    /// The two ends of a terminal that no person sits at.
    private static func openTerminal() throws -> (master: Int32, terminal: Int32) {
      #if canImport(Glibc)
        // The functions for it are not imported, but the kernel's own requests do: unlock, and ask for the number.
        let master = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        var (lock, number) = (Int32(0), UInt32(0))
        guard master >= 0, ioctl(master, 0x4004_5431, &lock) == 0, ioctl(master, 0x8004_5430, &number) == 0 else {
          throw CocoaError(.fileNoSuchFile)
        }
        return (master, open("/dev/pts/\(number)", O_RDWR | O_NOCTTY))
      #else
        let master = posix_openpt(O_RDWR | O_NOCTTY)
        guard master >= 0, grantpt(master) == 0, unlockpt(master) == 0, let name = ptsname(master) else {
          throw CocoaError(.fileNoSuchFile)
        }
        return (master, open(name, O_RDWR | O_NOCTTY))
      #endif
    }
  }
#endif
