import Concord
import Foundation

/// A problem that kept a merge from being complete. It is reported to ``ConsistencyManager/onProblem``; the merge continues
/// with the unchanged value.
public enum ConsistencyProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// A value that `setting(property:)` of an object, or of a wrapper (which has no id), did not accept.
  case valueNotTaken(type: String, id: String?, label: String, value: String)

  public var description: String {
    switch self {
    case .valueNotTaken(let type, let id, let label, let value):
      "\(type)\(id.map { " \"\($0)\"" } ?? "") did not take a value of type \(value) for its property \"\(label)\""
    }
  }

  /// Reports the problem to ``ConsistencyManager/onProblem``.
  func report() {
    ProblemReporter.shared.report(self)
  }
}

/// A reporter that passes problems to the handler. Without a handler, each kind of problem is written to standard error once.
final class ProblemReporter: Sendable {
  static let shared = ProblemReporter()

  private struct State {
    var handler: (@Sendable (ConsistencyProblem) -> Void)?
    var reported: Set<ConsistencyProblem> = []
  }

  private let state = Locked(State())

  var handler: (@Sendable (ConsistencyProblem) -> Void)? {
    get { state.withLock { $0.handler } }
    set { state.withLock { $0.handler = newValue } }
  }

  func report(_ problem: ConsistencyProblem) {
    if let handler {
      handler(problem)
    } else if state.withLock({ $0.reported.insert(problem.kind).inserted }) {
      try? FileHandle.standardError.write(contentsOf: Data("Concord: \(problem)\n".utf8))
    }
  }
}

extension ConsistencyProblem {
  /// The problem without the id, so that a mistake in a type is written once, and not for each object.
  fileprivate var kind: ConsistencyProblem {
    switch self {
    case .valueNotTaken(let type, _, let label, let value):
      .valueNotTaken(type: type, id: nil, label: label, value: value)
    }
  }
}
