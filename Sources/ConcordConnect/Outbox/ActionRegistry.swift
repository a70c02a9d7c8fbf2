import Concord
import ConcordPersistence
import Foundation

/// The types of forwarded actions that a program knows.
final class ActionRegistry: Sendable {
  private let state = Locked(State())

  private struct State {
    var decoders: [String: @Sendable (Data) throws -> any ForwardAction] = [:]
    var generation = 0
  }

  /// Differs after a type was registered.
  var generation: Int { state.withLock { $0.generation } }

  /// - Returns: whether it was not known.
  @discardableResult
  func register<A: ForwardAction>(_ type: A.Type) -> Bool {
    state.withLock { state in
      guard state.decoders[A.name] == nil else { return false }
      state.decoders[A.name] = { try JSONDecoder().decode(A.self, from: $0) }
      state.generation += 1
      return true
    }
  }

  /// - Returns: `nil` if the type is not known, or cannot read it.
  func action(_ row: OutboxRow) -> (any ForwardAction)? {
    guard let decode = state.withLock({ $0.decoders[row.action] }) else { return nil }
    return try? decode(Data(row.body.utf8))
  }

  static func encode(_ action: some ForwardAction) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(action), as: UTF8.self)
  }
}
