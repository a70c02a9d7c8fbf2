#if Server
  import Concord
  import ConcordSync
  import Foundation

  /// The types of actions that a server decides, with their rules.
  final class ServerActions<User: Sendable>: Sendable {
    typealias Rule = @Sendable (any SyncAction, User, EntityStore) throws -> Bool

    private let decoders: [String: @Sendable (Data) throws -> any SyncAction]
    private let rules = Locked<[String: Rule]>([:])

    init(_ types: [any SyncAction.Type]) {
      var decoders: [String: @Sendable (Data) throws -> any SyncAction] = [:]
      func add<A: SyncAction>(_ type: A.Type) {
        decoders[A.name] = { try JSONDecoder().decode(A.self, from: $0) }
      }
      for type in types { add(type) }
      self.decoders = decoders
    }

    func allow<A: SyncAction>(_ type: A.Type, _ rule: @escaping @Sendable (A, User, EntityStore) throws -> Bool) {
      rules.withLock { rules in
        rules[A.name] = { action, user, store in
          guard let action = action as? A else { return false }
          return try rule(action, user, store)
        }
      }
    }

    /// - Throws: ``ActionRefusal``.
    func action(_ message: ActionMessage) throws -> any SyncAction {
      guard let decode = decoders[message.name] else {
        throw ActionRefusal(reason: "the server does not know the action '\(told(message.name, bytes: 100))'")
      }
      do { return try decode(Data(message.body.bytes)) } catch {
        throw ActionRefusal(reason: "the server cannot read the action '\(message.name)'")
      }
    }

    /// - Throws: ``ActionRefusal``.
    func check(_ action: any SyncAction, _ user: User, _ store: EntityStore) throws {
      let rule = rules.withLock { $0[type(of: action).name] }
      guard let rule, try Self.looking(at: store, { try rule(action, user, $0) }) else {
        throw ActionRefusal(reason: "it is not allowed")
      }
    }

    /// Calls a closure with a store, and undoes what it writes there.
    private static func looking(at store: EntityStore, _ body: (EntityStore) throws -> Bool) throws -> Bool {
      do {
        try store.transaction { store in throw Undone(result: try body(store)) }
        return false
      } catch let undone as Undone {
        return undone.result
      }
    }
  }

  /// An error with what a rule has returned, which undoes its writes.
  private struct Undone: Error { let result: Bool }

  /// The reason why an action is refused, for people.
  struct ActionRefusal: Error { let reason: String }
#endif
