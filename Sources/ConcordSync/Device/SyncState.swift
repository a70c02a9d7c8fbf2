import ConcordConnect

/// The state of a synchronisation, guarded by one lock.
struct SyncState {
  var status = SyncStatus.offline(.notStarted)
  var lastNumber = 0

  var loop: Task<Void, Never>?
  /// The request that waits for the server at this moment.
  var poll: Task<(response: TransportResponse, token: String?), any Error>?
  /// Whether a poke ends it, too; the end of the connect does.
  var pollMayEnd = false
  /// Whether this program and the server do not understand each other, so that actions wait.
  var isOutdated = false
  /// Whether the next request is due at once, and asks not to wait.
  var isPoked = true
  /// The sleep that a poke ends.
  var sleep: Task<Void, Never>?
  var failures = 0
  /// The number of successive pages that did not fit, since another process had applied one.
  var misfits = 0
  /// The number of successive pages that brought again what the file had.
  var repeats = 0
  /// Whether the notes of actions that have ended are removed.
  var hasForgottenEnded = false
  /// The moment at which the server was last asked for what it had refused; `nil` if that is due.
  var refusedAsked: ContinuousClock.Instant?

  /// The number of pages that were applied.
  var pages = 0
  /// The tasks that wait for a page.
  var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
  /// The number of checkpoints that were asked for, and of those that the pages so far include.
  var asked = 0
  var answered = 0

  /// The writes that note new subscriptions.
  var beginnings: [SubscriptionID: Task<Void, any Error>] = [:]

  /// The tokens with which actions were sent of which the server's decision is not known.
  var sent = SentActions()

  /// The actions that are being carried, by their keys, with what is known of each.
  var carried: [String: Carried] = [:]

  enum Carried: Equatable {
    /// The server has not answered the action.
    case sent
    /// The server has accepted the action, and no page has contained its effect yet, of so many that were to.
    case accepted(missing: Int)
    /// A page contained the effect of the action.
    case applied
    /// A page of another user has made a dead letter of the action.
    case givenUp
  }

  /// Whether somebody waits for a page.
  var isAsked: Bool { isPoked || failures > 0 || !waiting.isEmpty || asked > answered }

  /// The keys that the next page is to contain, or as many of them as a server looks for.
  var awaited: [String] {
    Array(
      carried.lazy.compactMap { key, state in if case .accepted = state { key } else { nil } }
        .prefix(PageRequest.mostAwaited))
  }

  /// Counts the pages that do not contain what the server has accepted.
  mutating func count(awaited: [String], contained: Set<String>) {
    for key in awaited where !contained.contains(key) {
      if case .accepted(let missing) = carried[key] { carried[key] = .accepted(missing: missing + 1) }
    }
  }

  mutating func takeAllWaiting() -> [CheckedContinuation<Void, any Error>] {
    defer { waiting = [:] }
    return Array(waiting.values)
  }
}

/// The rules of a synchronisation.
struct SyncSettings: Sendable {
  /// The time for which a request may wait at the server for something new.
  var wait: Duration = .seconds(25)
  /// The waits after failures.
  var backoff = Backoff(base: .milliseconds(500), cap: .seconds(30))
  var clock: any Clock<Duration> = ContinuousClock()
}
