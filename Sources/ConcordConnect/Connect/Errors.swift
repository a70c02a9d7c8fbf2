public import Foundation

/// An error of a ``Connect``.
public enum Errors: Error, Sendable, Equatable {
  /// The type does not belong to the model, or cannot be told apart by its uniqueness attributes. The text names it.
  case unmanagedEntity(String)
  /// The type has no name that a table could have.
  case missingEntityName(String)
  /// Work was given to a ``Connect`` that was not started, or was stopped.
  case notStarted(String)
  /// An action waits for the end of all actions, and so of itself.
  case calledFromAction(String)
  /// A merge is to ignore an attribute that the type does not have.
  case unknownAttribute(String)
  /// A forwarded action cannot be restored from the outbox, or not be sent: it cannot be encoded, its name belongs to another type, its type cannot
  /// decode what it has encoded, or a `SyncAction` is nested too deeply.
  case unreadableAction(String)
  /// The inverse of a forwarded action keeps its order with another entity than the action, so that it might be sent before it.
  case unorderedInverse(String)
}

extension Errors: LocalizedError, CustomStringConvertible {
  public var errorDescription: String? { description }

  public var description: String {
    switch self {
    case .unmanagedEntity(let text), .missingEntityName(let text), .notStarted(let text), .calledFromAction(let text),
      .unknownAttribute(let text), .unreadableAction(let text), .unorderedInverse(let text):
      text
    }
  }
}
