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

  /// - Returns: `nil` if the type is not known, or cannot read it, or if it has no key by which a service could know it again.
  func action(_ row: OutboxRow) -> (any ForwardAction)? {
    guard !row.key.isEmpty, let decode = state.withLock({ $0.decoders[row.action] }) else { return nil }
    return try? decode(Data(row.body.utf8))
  }

  /// The JSON of an action, which this program can read again, and what it reads.
  ///
  /// - Throws: ``Errors/unreadableAction(_:)``: it cannot be encoded, or would stay in the outbox for ever, unseen and unsent.
  func encode<A: ForwardAction>(_ action: A) throws -> (body: String, read: any ForwardAction) {
    let body: String
    do { body = try Self.encode(action) } catch {
      throw Errors.unreadableAction("'\(A.name)' cannot be encoded: \(error)")
    }
    guard let decode = state.withLock({ $0.decoders[A.name] }) else { return (body, action) }
    let read: any ForwardAction
    do { read = try decode(Data(body.utf8)) } catch {
      throw Errors.unreadableAction("'\(A.name)' cannot be read from what it was encoded as: \(error)")
    }
    guard read is A else { throw Errors.unreadableAction("another type of action is called '\(A.name)', too") }
    return (body, read)
  }

  private static func encode(_ action: some ForwardAction) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(action), as: UTF8.self)
  }
}
