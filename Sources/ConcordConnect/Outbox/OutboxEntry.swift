public import Foundation

/// A forwarded action to which the web service has not given a final response.
public struct OutboxEntry: Sendable, Identifiable {
  /// The key by which the service recognises the action.
  public let key: IdempotencyKey
  /// The name of its type: ``ForwardAction/name``.
  public let name: String
  /// The action; `nil` if its type is not registered, or cannot decode it.
  public let action: (any ForwardAction)?
  /// The type and the id of the entity with which the action keeps its order, for people to read.
  public let entity: String
  /// The date at which the action was forwarded.
  public let forwarded: Date
  /// The number of failed attempts since the ``Connect`` was started, or since the action was a dead letter.
  public let attempts: Int
  /// The error of the last attempt.
  public let lastError: String?
  /// Whether the action is being sent now.
  public let isSending: Bool
  let row: OutboxID

  public var id: IdempotencyKey { key }
}

/// An action that the web service has refused permanently, or that was given up. Its change is no longer shown; it stays until it is retried
/// or dropped.
public struct DeadLetter: Sendable, Identifiable {
  /// The entry of the refused action.
  public let entry: OutboxEntry
  /// The reason of the refusal, as text for people.
  public let reason: String

  public var id: IdempotencyKey { entry.key }
  /// The idempotency key of the action.
  public var key: IdempotencyKey { entry.key }
  /// The action; `nil` if it cannot be decoded.
  public var action: (any ForwardAction)? { entry.action }
}

/// An event of a forwarded action, in this process or in another one with the same file.
public enum OutboxEvent: Sendable {
  /// The action is durable. This is an action's first event, also if it was sent before this process read it; the
  /// action itself is `nil` then.
  case forwarded(OutboxEntry)
  /// The action is being sent. Reported in the sending process.
  case sending(OutboxEntry)
  /// Sending failed, and is tried again. Reported in the sending process.
  case delayed(OutboxEntry, error: any Error, by: Duration)
  /// The service has accepted the action.
  case accepted(OutboxEntry)
  /// The service has accepted the action, but its change no longer applies to the stored entities. Reported in the
  /// sending process.
  case notApplied(OutboxEntry, error: any Error)
  /// The service has refused the action permanently.
  case refused(DeadLetter)
  /// A dead letter is to be sent again.
  case retried(OutboxEntry)
  /// A dead letter, or an action of an unregistered type, was given up, or an action was withdrawn before it was sent.
  case dropped(OutboxEntry)
  /// The type of an action is not registered, or cannot read the action, which stays, and later actions of its entity wait.
  case unknown(OutboxEntry)
  /// The outbox was cleared.
  case cleared
}
