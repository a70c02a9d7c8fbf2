/// Carries actions that have no request of their own to a service that decides them, and stores what came of them.
package protocol ActionCarrier: AnyObject, Sendable {
  /// Carries an action to the service.
  ///
  /// - Throws: ``OutcomeIsStored`` once the outbox has the outcome; an error as `ForwardAction.send(with:key:)` throws it otherwise.
  func carry(_ action: any ForwardAction, key: IdempotencyKey) async throws

  /// Throws if it cannot carry an action that is about to be forwarded.
  ///
  /// - Parameter body: the JSON of the action.
  /// - Throws: ``Errors/unreadableAction(_:)``.
  func check(_ action: any ForwardAction, _ body: String) throws

  /// The outbox was started or stopped, is held up or no longer, has become the one that sends, has other stores, or the network has returned.
  func outboxDidChange()

  /// Returns whether a dead letter may be sent again, in the transaction that lets it. A carrier lets each if it does not implement this.
  func mayRetry(_ key: String, _ writing: NotesWriting) throws -> Bool

  /// Writes what follows from the end of actions, in the transaction that ends them. A carrier writes nothing if it does not implement this.
  func actionsDidEnd(_ writing: NotesWriting) throws
}

extension ActionCarrier {
  package func mayRetry(_ key: String, _ writing: NotesWriting) throws -> Bool { true }

  package func actionsDidEnd(_ writing: NotesWriting) throws {}
}

/// The end of the sending of an action whose outcome is stored already.
package struct OutcomeIsStored: Error {
  package init() {}
}

/// An error after which an action is not sent again, although the service may have made the change.
package struct OutcomeIsUnknown: NonRetriable, CustomStringConvertible {
  package let description: String
  package init(_ reason: String) { description = reason }
}

/// A weak reference to a carrier, which has the outbox.
struct CarrierReference: Sendable {
  weak let carrier: (any ActionCarrier)?
}

/// The transport of a ``Connect`` that has no other, for actions that a carrier carries, which do not use it.
struct StandInTransport: Transport {
  func send(_ request: TransportRequest) async throws -> TransportResponse {
    throw TransportError.unreachable(reason: "the outbox has no transport for actions with a request of their own")
  }
}
