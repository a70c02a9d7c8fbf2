import Logging
import Synchronization

/// Keeps the lines that a logger writes, at any level.
struct CapturingLogHandler: LogHandler {
  struct Line: Sendable, Equatable {
    var level: Logger.Level
    var message: String
    var metadata: [String: String]
  }

  /// The lines, shared with the test that reads them.
  final class Lines: Sendable {
    private let lines = Mutex<[Line]>([])
    var all: [Line] { lines.withLock { $0 } }
    func append(_ line: Line) { lines.withLock { $0.append(line) } }
    func with(message: String) -> [Line] { all.filter { $0.message == message } }
  }

  let lines: Lines
  var logLevel = Logger.Level.trace
  var metadata = Logger.Metadata()

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let metadata = (event.metadata ?? [:]).mapValues { "\($0)" }
    lines.append(Line(level: event.level, message: "\(event.message)", metadata: metadata))
  }
}
