import ConcordPersistence

extension Error {
  /// Whether a service has said where the result of a change is (303), and that could not be had.
  var isLostResult: Bool {
    if case .status(303, _, _)? = self as? TransportError { true } else { false }
  }
}

/// The outcome of sending an action.
enum OutboxOutcome: Sendable {
  case accepted
  /// The service will never accept the action, and may have asked to be left alone for a time.
  case refused(reason: String, retryAfter: Duration? = nil)
  /// The action is not tried again: the service may have made the change, and may have asked to be left alone for a time.
  case givenUp(reason: String, retryAfter: Duration? = nil)
  /// The action is to be tried again, after the time that the service has asked for.
  case failed(any Error, retryAfter: Duration?)
  /// The outcome is stored already.
  case stored
  /// Sending was cancelled, since the outbox stops.
  case cancelled

  var isAccepted: Bool {
    if case .accepted = self { true } else { false }
  }

  /// The time for which the service has asked to be left alone.
  var retryAfter: Duration? {
    switch self {
    case .refused(_, let retryAfter), .givenUp(_, let retryAfter), .failed(_, let retryAfter): retryAfter
    case .accepted, .stored, .cancelled: nil
    }
  }

  init(_ result: Result<Void, any Error>, isCancelled: Bool) {
    switch result {
    case .success: self = .accepted
    case .failure(is OutcomeIsStored): self = .stored
    case .failure(let error as OutcomeIsUnknown): self = .givenUp(reason: "\(error)")
    case .failure(let error) where error is any NonRetriable: self = .refused(reason: "\(error)")
    case .failure(let error as TransportError): self.init(error)
    case .failure(let error): self = .failed(error, retryAfter: nil)
    }
    // The service's decision counts, also after a cancellation.
    if isCancelled, case .failed = self { self = .cancelled }
  }

  private init(_ error: TransportError) {
    switch error {
    // Time-out, too early, too many requests: the same request may be accepted later.
    case .status(408, _, let retryAfter), .status(425, _, let retryAfter), .status(429, _, let retryAfter):
      self = .failed(error, retryAfter: retryAfter.map(Self.possible))
    case .status(400..<500, _, _), .invalidRequest: self = .refused(reason: "\(error)")
    case .status(_, _, let retryAfter): self = .failed(error, retryAfter: retryAfter.map(Self.possible))
    default: self = .failed(error, retryAfter: nil)
    }
  }

  /// Returns a wait that a clock can take, at most a day: a service may ask for any time.
  private static func possible(_ retryAfter: Duration) -> Duration { min(max(.zero, retryAfter), .seconds(86_400)) }
}

extension OutboxRow {
  /// The row of the action once the service has accepted it.
  var sent: OutboxRow {
    var row = self
    (row.state, row.body) = (.sent, "")
    return row
  }

  /// Lets a dead letter be sent again.
  ///
  /// - Returns: whether it is one.
  mutating func retry() -> Bool {
    guard state == .refused else { return false }
    (state, reason) = (.pending, nil)
    return true
  }

  /// Gives up an action that is not finished.
  ///
  /// - Returns: whether it is none.
  mutating func drop() -> Bool {
    guard !state.isFinished else { return false }
    (state, body) = (.dropped, "")
    return true
  }

  /// Holds up an action that takes back another one.
  ///
  /// - Returns: whether it was to be sent.
  mutating func waitForOrigin() -> Bool {
    guard state == .pending else { return false }
    (state, reason) = (.refused, "it takes back an action of which it is not known whether it had its effect")
    return true
  }
}
