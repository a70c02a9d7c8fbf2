public import Dispatch
public import Foundation

/// A store that keeps one truth for an app's models: every copy of an entity, wherever it stands, shows the same.
///
/// ```swift
/// let store = EntityStore()
/// let observer = store.store(AuthorBooks(author: steinbeck, books: [cannery, eden]))
/// store.update(Author.self, id: steinbeck.id) { $0.name = "John Steinbeck" }
/// observer.value.author.name  // "John Steinbeck"
/// ```
///
/// Values are plain structs; their identity is their type and id. The store retains an entity as long as it is observed, a
/// retained parent contains it, or an alias names it. All methods may be called from any thread, and from inside observers'
/// callbacks, closures of `update` and transactions.
public final class EntityStore: Sendable {
  /// The place where observers are called that belong to no actor.
  public enum Delivery: Sendable {
    /// A queue: observers receive the newest committed state when it is their turn, in commit order.
    case queue(DispatchQueue)
    /// The committing thread: observers receive each state, in commit order, before the writing call returns.
    ///
    /// Where several threads commit at the same time, a thread delivers its own commits up to the first one of another
    /// thread. The rest is delivered by a thread of the store's, and the writing call does not wait for it.
    case immediate
  }

  /// The stamps of writes that are given none.
  public enum Stamping: Sendable {
    /// The store's clock: unstamped writes get the date, strictly increasing.
    case clock
    /// No stamp: unstamped writes are always taken, and keep the stored stamp. For users whose stamps are server
    /// versions.
    case unstampedWritesWin
  }

  @usableFromInline let shared: SharedCore
  /// The token of the transaction whose body received this store; 0 for the store itself.
  @usableFromInline let token: UInt64

  /// Creates a store that calls observers on a queue, by default the main queue.
  ///
  /// - Parameters:
  ///   - queue: the queue on which observers are called that belong to no actor.
  ///   - stamping: the stamps of writes that are given none.
  ///   - logger: a receiver of what the store does.
  ///   - date: a closure that tells the date for unstamped writes, for tests; if `nil`, the system does. It is called during
  ///     writes, and must not use the store.
  public init(
    queue: DispatchQueue = .main, stamping: Stamping = .clock, logger: (any EntityStoreLogger)? = nil,
    date: (@Sendable () -> Date)? = nil
  ) {
    shared = SharedCore(queue: queue, clock: StampClock(stamping, date), logger: logger)
    token = 0
  }

  /// Creates a store that calls observers on a queue or on the committing thread.
  ///
  /// ```swift
  /// let store = EntityStore(delivery: .immediate, date: { Date(timeIntervalSinceReferenceDate: 0) })
  /// ```
  ///
  /// - Parameters:
  ///   - delivery: the place where observers are called that belong to no actor.
  ///   - stamping: the stamps of writes that are given none.
  ///   - logger: a receiver of what the store does.
  ///   - date: a closure that tells the date for unstamped writes, for tests; if `nil`, the system does. It is called
  ///     during writes, and must not use the store.
  public init(
    delivery: Delivery, stamping: Stamping = .clock, logger: (any EntityStoreLogger)? = nil,
    date: (@Sendable () -> Date)? = nil
  ) {
    let queue: DispatchQueue? = if case .queue(let queue) = delivery { queue } else { nil }
    shared = SharedCore(queue: queue, clock: StampClock(stamping, date), logger: logger)
    token = 0
  }

  /// Sets the time after which a write reports that it waits for its turn, for the store's own tests.
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
