public import Foundation

/// A forwarded action that the web service has not answered for good.
public struct OutboxEntry: Sendable, Identifiable {
  /// By which the service recognises it.
  public let key: IdempotencyKey
  /// The name of its type: ``ForwardAction/name``.
  public let name: String
  /// The action itself; `nil` if its type is not registered, or cannot read it.
  public let action: (any ForwardAction)?
  /// The type and the id of the entity with which it keeps its order, for people to read.
  public let entity: String
  /// When it was forwarded.
  public let forwarded: Date
  /// How often it was tried in vain since the ``Connect`` was started, or since it was a dead letter.
  public let attempts: Int
  /// What was wrong the last time.
  public let lastError: String?
  /// Whether it is being sent now.
  public let isSending: Bool
  let number: Int64

  public var id: IdempotencyKey { key }
}

/// An action that the web service has refused for good. It is shown no longer, and stays until it is tried again or dropped.
public struct DeadLetter: Sendable, Identifiable {
  /// The entry of the refused action.
  public let entry: OutboxEntry
  /// Why it was refused, for people to read.
  public let reason: String

  public var id: IdempotencyKey { entry.key }
  /// The idempotency key of the action.
  public var key: IdempotencyKey { entry.key }
  /// The action; `nil` if it cannot be decoded.
  public var action: (any ForwardAction)? { entry.action }
}

/// What happened to forwarded actions, in this process or in another one with the same file.
public enum OutboxEvent: Sendable {
  /// It is durable.
  case forwarded(OutboxEntry)
  /// It is being sent. Told in the process that sends.
  case sending(OutboxEntry)
  /// It could not be sent, and is tried again. Told in the process that sends.
  case delayed(OutboxEntry, error: any Error, by: Duration)
  /// The service has accepted it.
  case accepted(OutboxEntry)
  /// The service has accepted it, but what it changes cannot be stored: it does not apply any longer. Told in the process that sends.
  case notApplied(OutboxEntry, error: any Error)
  /// The service has refused it for good.
  case refused(DeadLetter)
  /// A dead letter is to be sent again.
  case retried(OutboxEntry)
  /// A dead letter was given up, or an action that nobody knows.
  case dropped(OutboxEntry)
  /// The type of an action is not registered, or cannot read it. It stays, and later actions of its entity wait.
  case unknown(OutboxEntry)
  /// All was cleared.
  case cleared
}
