#if Persistence
  import Concord
  import Foundation

  /// A process of the program beside the tests: see `ConcordTestProcess`.
  final class ChildProcess {
    private let process = Process()
    private let output = Pipe()
    private let state = Locked((lines: [String](), rest: Data(), isOver: false))

    init(_ arguments: [String]) throws {
      let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
      process.executableURL = folder.appending(path: "ConcordTestProcess")
      process.arguments = arguments
      process.standardOutput = output
      output.fileHandleForReading.readabilityHandler = { [state] handle in
        let data = handle.availableData
        state.withLock { state in
          state.rest += data
          while let end = state.rest.firstIndex(of: 10) {
            state.lines.append(String(decoding: state.rest[..<end], as: UTF8.self))
            state.rest = Data(state.rest[(end + 1)...])
          }
          state.isOver = data.isEmpty
        }
        if data.isEmpty { handle.readabilityHandler = nil }
      }
      try process.run()
    }

    /// All that it has printed.
    var lines: [String] { state.withLock { $0.lines } }
    var isRunning: Bool { process.isRunning }

    /// `kill -9`. All that it had printed before is read.
    func kill() {
      Foundation.kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      for _ in 0..<200 where !state.withLock({ $0.isOver }) { usleep(1000) }
    }
  }
#endif
