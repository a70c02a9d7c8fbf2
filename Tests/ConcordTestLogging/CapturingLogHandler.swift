package import Logging
import Synchronization

/// Keeps the lines that a logger writes, at any level.
package struct CapturingLogHandler: LogHandler {
  package struct Line: Sendable, Equatable {
    package var level: Logger.Level
    package var message: String
    package var metadata: [String: String]

    package init(level: Logger.Level, message: String, metadata: [String: String]) {
      (self.level, self.message, self.metadata) = (level, message, metadata)
    }
  }

  /// The lines, shared with the test that reads them.
  package final class Lines: Sendable {
    private let lines = Mutex<[Line]>([])
    package init() {}
    package var all: [Line] { lines.withLock { $0 } }
    package func append(_ line: Line) { lines.withLock { $0.append(line) } }
    package func with(message: String) -> [Line] { all.filter { $0.message == message } }
  }

  private let lines: Lines
  package var logLevel = Logger.Level.trace
  package var metadata = Logger.Metadata()

  package init(lines: Lines) { self.lines = lines }

  package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  package func log(event: LogEvent) {
    let metadata = (event.metadata ?? [:]).mapValues { "\($0)" }
    lines.append(Line(level: event.level, message: "\(event.message)", metadata: metadata))
  }
}
