import Concord
public import Foundation

/// A process of the program beside the tests: see `ConcordTestProcess`.
public final class ChildProcess: Sendable {
  private let process = Locked(Process())
  private let identifier: pid_t
  private let input = Pipe()
  private let output = Output()

  public init(_ arguments: [String]) throws {
    let pipe = Pipe()
    // A thread that waits, since on Linux Dispatch may look at a file that `readabilityHandler` has let go.
    Thread.detachNewThread { [output] in
      var data = Data()
      repeat {
        data = pipe.fileHandleForReading.availableData
        output.receive(data)
      } while !data.isEmpty
    }
    identifier = try process.withLock { [input] process in
      process.executableURL = Self.url
      process.arguments = arguments
      process.standardInput = input
      process.standardOutput = pipe
      try process.run()
      return process.processIdentifier
    }
  }

  /// The program, beside that of the tests.
  public static var url: URL {
    URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "ConcordTestProcess")
  }

  /// All that it has printed.
  public var lines: [String] { output.state.withLock { $0.lines } }
  public var isRunning: Bool { process.withLock { $0.isRunning } }

  public func say(_ text: String) { input.fileHandleForWriting.write(Data("\(text)\n".utf8)) }

  /// `kill -STOP`, after which it neither runs nor ends; and `kill -CONT`.
  public func pause() { Foundation.kill(identifier, SIGSTOP) }
  public func goOn() { Foundation.kill(identifier, SIGCONT) }

  /// `kill -9`. All that it had printed before is read.
  public func kill() {
    Foundation.kill(identifier, SIGKILL)
    waitUntilExit()
  }

  /// All that it has printed is read.
  public func waitUntilExit() {
    process.withLock { $0.waitUntilExit() }
    for _ in 0..<200 where !output.state.withLock({ $0.isOver }) { usleep(1000) }
  }
}

/// The lines that a process prints.
private final class Output: Sendable {
  let state = Locked((lines: [String](), rest: Data(), isOver: false))

  func receive(_ data: Data) {
    state.withLock { state in
      state.rest += data
      while let end = state.rest.firstIndex(of: 10) {
        state.lines.append(String(decoding: state.rest[..<end], as: UTF8.self))
        state.rest = Data(state.rest[(end + 1)...])
      }
      state.isOver = data.isEmpty
    }
  }
}
