/// The state of a device's synchronisation with its server.
public enum SyncStatus: Sendable, Hashable {
  /// The server cannot be reached, or does not serve the device. It is tried again.
  case offline(SyncOfflineReason)
  /// The state of a subscription, or very many changes, are on their way: of `total` rows of the server's answer `done` are written.
  ///
  /// Both are 0 until the answer is here. The rows are shown when all of them are written.
  case catchingUp(done: Int, total: Int)
  /// The device shows what the server has, until the server says otherwise.
  ///
  /// Where the condition of a publication is another one in page after page, as with a date that is not rounded, the device pauses for up to 30 seconds
  /// between its requests, and all its subscriptions are late by that. They are late by up to two seconds where one of them has a predicate that looks at other
  /// rows, and these change all the time.
  case upToDate
}

/// The reason for which a device does not synchronise.
public enum SyncOfflineReason: Sendable, Hashable {
  /// The ``/ConcordConnect/Connect`` is not started, or is suspended.
  case notStarted
  /// The server cannot be reached, or answers with an error of its own. The text is for people.
  case unreachable(String)
  /// The server does not accept the token, or there is none.
  case unauthorized
  /// The server has set a limit to what the user may have or ask at a time: requests, devices, pages that are not read. The text is for people.
  case limited(String)
  /// The state of a subscription, or what has changed, is longer than so many bytes, the limit of the transport: `sync(over:)` takes one with another
  /// limit. It is tried again every few minutes.
  case tooLarge(limit: Int)
  /// This program and the server do not understand each other: one of them has to be updated. Forwarded actions wait.
  case upgradeRequired(String)
  /// The store cannot be written, or what the server sends does not fit into it, as a row with a value of another type than its column. The text
  /// is for people. It is tried again.
  case storeFailed(String)
}

/// An error of synchronisation.
public enum SyncError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The server does not serve the subscription. The reason is the server's.
  case refused(subscription: String, reason: String)
  /// The subscription was cancelled.
  case cancelled(subscription: String)

  public var description: String {
    switch self {
    case .refused(let name, let reason): "the server refuses the subscription '\(name)': \(reason)"
    case .cancelled(let name): "the subscription '\(name)' was cancelled"
    }
  }
}
