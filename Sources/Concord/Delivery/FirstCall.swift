// The call itself is made by `Subscriber.start`.

/// Where an observer is called for the first time.
///
/// ```swift
/// let subscription = observer.observe(firstCall: .inTurn) { book in print(book.title) }
/// ```
@frozen public enum FirstCall: Sendable, Hashable {
  /// On the thread that calls `observe`, before that returns.
  case atOnce
  /// Where the later calls come: on the store's queue or the observer's actor, in its turn, with the newest value of that
  /// moment. With ``EntityStore/Delivery/immediate`` that is at once.
  case inTurn
}
