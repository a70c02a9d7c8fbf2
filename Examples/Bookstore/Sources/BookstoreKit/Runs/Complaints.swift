import Foundation
import Synchronization

/// Where the mistakes of the feed are told: on standard error, or, while standard error is the terminal that the screens
/// are drawn on, kept until the end.
final class Complaints: Sendable {
  private struct State {
    var kept: [String] = []
    var newest: String?
    var dropped = 0
  }

  private let keeps: Bool
  private let source: String
  private let state = Mutex(State())
  private let mostKept = 1000

  /// `source` is the name of the feed.
  init(source: String, keeps: Bool) {
    self.source = source
    self.keeps = keeps
  }

  /// The newest one, to show beside the screens.
  var newest: String? { state.withLock { $0.newest } }

  func add(line: Int, _ problem: EventProblem) {
    let text = "\(source):\(line): \(problem)".printable
    let isKept = state.withLock { state in
      state.newest = text
      guard keeps else { return false }
      if state.kept.count < mostKept { state.kept.append(text) } else { state.dropped += 1 }
      return true
    }
    if !isKept { Self.write(text) }
  }

  /// Tells what was kept.
  func tellKept() {
    let (kept, dropped) = state.withLock { ($0.kept, $0.dropped) }
    for text in kept { Self.write(text) }
    if dropped > 0 { Self.write("and \(dropped) more") }
  }

  private static func write(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data("\(text)\n".utf8)) }
}
