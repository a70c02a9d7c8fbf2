import Synchronization

/// How far the feed and the screens are. The feed writes what arrived; the screens write what they have shown.
final class FeedProgress: Sendable {
  struct State: Sendable, Equatable {
    /// Events that changed the store.
    var taken = 0
    /// Events older than what the store had.
    var stale = 0
    /// Lines that were no event, or spoke of a book or an author that is not there.
    var malformed = 0
    /// Whether an event could not be saved, which ends the feed.
    var hasFailed = false
    /// How many events the screens have been told of.
    var shown = 0
    var isStopped = false
    var isFinished = false

    /// Events that reached the store.
    var arrived: Int { taken + stale }
    var lines: Int { arrived + malformed }
  }

  private let mutex = Mutex(State())

  var state: State { mutex.withLock { $0 } }

  func change(_ body: (inout State) -> Void) { mutex.withLock { body(&$0) } }
}
