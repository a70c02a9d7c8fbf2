public import Dispatch
public import Foundation

/// One truth for an app's models: every copy of an entity, wherever it stands, shows the same.
///
/// ```swift
/// let store = EntityStore()
/// let observer = store.store(AuthorBooks(author: steinbeck, books: [cannery, eden]))
/// store.update(Author.self, id: steinbeck.id) { $0.name = "John Steinbeck" }
/// observer.value.author.name  // "John Steinbeck"
/// ```
///
/// Values are plain structs; their identity is their type and id. The store keeps an entity as long as somebody observes
/// it, a living parent contains it, or an alias names it. All methods may be called from any thread, and from inside
/// observers' callbacks, closures of `update` and transactions.
public final class EntityStore: Sendable {
  /// How observers are called.
  public enum Delivery: Sendable {
    /// On a queue, in commit order: the newest committed state when the queue's turn comes.
    case queue(DispatchQueue)
    /// With no queue: each state, in commit order, on the thread that commits it, before the writing call returns. Where
    /// several threads commit at the same time, a thread delivers its own commits up to the first one of another thread;
    /// the rest is delivered by a thread of the store's, and the writing call does not wait for it.
    case immediate
  }

  /// What an unstamped write's stamp is.
  public enum Stamping: Sendable {
    /// The date, strictly increasing.
    case clock
    /// None: the write always wins, and leaves the stored stamp alone. For users whose stamps are server versions.
    case unstampedWritesWin
  }

  @usableFromInline let shared: SharedCore
  /// What a transaction's body was handed carries its transaction's; 0 for the store itself.
  @usableFromInline let token: UInt64

  /// Makes a store that calls observers on a queue: the main queue, if not told otherwise.
  ///
  /// - Parameters:
  ///   - queue: where observers that belong to no actor are called.
  ///   - stamping: what the stamp of an unstamped write is.
  ///   - logger: is told what the store does.
  ///   - date: tells the date for the stamps of unstamped writes, so that tests can; if `nil`, the system does. It is called in
  ///     the middle of writes, and so must not use the store.
  public init(
    queue: DispatchQueue = .main, stamping: Stamping = .clock, logger: (any EntityStoreLogger)? = nil,
    date: (@Sendable () -> Date)? = nil
  ) {
    shared = SharedCore(queue: queue, clock: StampClock(stamping, date), logger: logger)
    token = 0
  }

  /// Makes a store that calls observers as `delivery` says.
  ///
  /// ```swift
  /// let store = EntityStore(delivery: .immediate, date: { Date(timeIntervalSinceReferenceDate: 0) })
  /// ```
  public init(
    delivery: Delivery, stamping: Stamping = .clock, logger: (any EntityStoreLogger)? = nil,
    date: (@Sendable () -> Date)? = nil
  ) {
    let queue: DispatchQueue? = if case .queue(let queue) = delivery { queue } else { nil }
    shared = SharedCore(queue: queue, clock: StampClock(stamping, date), logger: logger)
    token = 0
  }

  /// How long a write waits for its turn before it says so, for the store's own tests.
  package func _setPatience(_ patience: Duration) { shared.readCommitted { $0.turns.patience = patience } }

  init(_ shared: SharedCore, token: UInt64) {
    self.shared = shared
    self.token = token
  }
}

extension StampClock {
  convenience init(_ stamping: EntityStore.Stamping, _ date: (@Sendable () -> Date)? = nil) {
    self.init(isClock: stamping == .clock, date: date)
  }
}
