/// The tokens with which actions were sent, while the server may have decided them and the device does not know it.
///
/// A server decides nothing where the token's user is another one than the message names (409). So all messages of an action that were sent with this
/// token only have had no effect, and never will, also if the network repeats one. That relies on a token being one user's.
struct SentActions {
  /// An attempt to send an action.
  struct Attempt {
    let key: String
    let token: String?
    /// Whether no attempt before had the token.
    let isNew: Bool
  }

  /// By the keys of the actions whose first attempt is known here. What an earlier run of the program has sent is not.
  private var tokens: [String: Set<String?>] = [:]
  /// The actions that nobody has decided, while the file still says that they were sent.
  private var undecided: Set<String> = []
  /// More than are sent at a time. Of those that are not known it counts as possible that the server has decided them.
  static var mostActions: Int { 1000 }
  /// The number of tokens of an action beyond which it is not known any longer, as of one that waits for days.
  static var mostTokens: Int { 100 }

  /// Whether nothing is known of any action.
  var isEmpty: Bool { tokens.isEmpty }

  /// Whether there is no place for a new action.
  var isFull: Bool { tokens.count >= Self.mostActions }

  /// Removes what is known of actions that are over, as those that were dropped.
  ///
  /// - Parameter keys: the actions that are pending or dead letters.
  mutating func forget(besides keys: Set<String>) {
    tokens = tokens.filter { keys.contains($0.key) }
    undecided.formIntersection(keys)
  }

  /// Begins an attempt.
  ///
  /// - Parameter isFirst: whether the action was not sent before, as the file says.
  mutating func begin(_ key: String, with token: String?, isFirst: Bool) -> Attempt {
    if isFirst { tokens[key] = tokens[key] != nil || !isFull ? [] : nil }
    let isNew = tokens[key]?.insert(token).inserted ?? false
    if tokens[key].map({ $0.count > Self.mostTokens }) ?? false { tokens[key] = nil }
    return Attempt(key: key, token: token, isNew: isNew)
  }

  /// Ends an attempt without a decision.
  ///
  /// - Parameter status: the status of the answer; `nil` if there was none.
  /// - Returns: whether it is certain that no attempt was decided.
  mutating func end(_ attempt: Attempt, with status: Int?) -> Bool {
    switch status {
    // The token is one user's. Without one the transport may carry what lets users in, and earlier attempts may have been another's.
    case 409 where attempt.token != nil: tokens[attempt.key]?.remove(attempt.token)
    // This one was not decided. Earlier ones with the same token may have been, as before it expired.
    case 401, 409, 413, 426: if attempt.isNew { tokens[attempt.key]?.remove(attempt.token) }
    default: break
    }
    guard tokens[attempt.key]?.isEmpty == true else { return false }
    tokens[attempt.key] = nil
    undecided.insert(attempt.key)
    return true
  }

  /// Notes that the file no longer says that an undecided action was sent.
  mutating func didForget(_ key: String) { undecided.remove(key) }

  /// Whether an action is known to be undecided, as the file will say soon.
  func isUndecided(_ key: String) -> Bool { undecided.contains(key) }

  /// Whether all messages of an action that the server may have decided were sent with a token. If that is another user's than they name, it has not.
  func wasSent(_ key: String, with token: String) -> Bool { tokens[key] == [token] }

  /// Removes what is known of an action that was decided.
  mutating func remove(_ key: String) { tokens[key] = nil }
}
